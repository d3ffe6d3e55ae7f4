package dist

// This file keeps a job of this machine off the network: see Note [Listening].

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confinement answers the bind calls of a launcher and all that it starts. Its methods belong to
// one goroutine.
type confinement struct {
	calls       *os.File // seccomp's descriptor of waiting calls
	stop, ended *os.File // a pipe; the end of its writer ends serve
}

// notification and response are seccomp_notif and seccomp_notif_resp of linux/seccomp.h.
type notification struct {
	ID          uint64
	Pid, Flags  uint32
	Number      int32
	Arch        uint32
	Instruction uint64
	Args        [6]uint64
}

type response struct {
	ID    uint64
	Value int64
	Errno int32
	Flags uint32
}

// stillWaits is SECCOMP_IOCTL_NOTIF_ID_VALID, by the number that all kernels know (it was another
// before 5.8).
const stillWaits = 0x80082102

// archOf returns the kernel's number of the architecture for filters (linux/audit.h).
func archOf() (arch uint32, known bool) {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64, true
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64, true
	}
	return 0, false
}

// confine makes serve answer bind, for the calling thread and all that it starts from then on. The
// thread must be locked to its goroutine and end with it. The error is the system's, which may be
// older than Linux 5.5 or forbid it.
func confine() (*confinement, error) {
	arch, known := archOf()
	if !known {
		return nil, fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	// The filter reads seccomp_data: the number of the call is at 0, the architecture at 4.
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 4},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jf: 2},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_BIND, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Without SPEC_ALLOW kernels before 5.16 would slow the ranks down by speculation
	// mitigations.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return nil, errno
	}
	c := &confinement{calls: os.NewFile(fd, "calls of bind")}
	var err error
	if c.ended, c.stop, err = os.Pipe(); err != nil {
		c.calls.Close()
		return nil, err
	}
	return c, nil
}

// serve answers until end is called.
func (c *confinement) serve() {
	defer c.ended.Close()
	defer c.calls.Close()
	wait := []unix.PollFd{{Fd: int32(c.calls.Fd()), Events: unix.POLLIN}, {Fd: int32(c.ended.Fd())}}
	for {
		if _, err := unix.Poll(wait, -1); err != nil && err != unix.EINTR {
			return
		}
		switch {
		case wait[1].Revents != 0:
			return
		case wait[0].Revents&unix.POLLIN != 0:
			c.next()
		case wait[0].Revents != 0: // no caller is left
			wait[0].Fd = -1
		}
		wait[0].Revents, wait[1].Revents = 0, 0
	}
}

// end ends serve, when all possible callers have ended.
func (c *confinement) end() { c.stop.Close() }

// next answers one call: it continues, with the loopback address if it could be reached from
// outside.
func (c *confinement) next() {
	var call notification
	if c.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)) != nil {
		return // who called has ended meanwhile
	}
	if memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", call.Pid), os.O_RDWR, 0); err == nil {
		// it is still the caller's
		if c.ioctl(stillWaits, unsafe.Pointer(&call.ID)) == nil {
			turnInward(memory, int64(call.Args[1]), int(call.Args[2]))
		}
		_ = memory.Close() // nothing is buffered
	}
	reply := response{ID: call.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_ = c.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&reply)) // or it has ended
}

func (c *confinement) ioctl(request uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, c.calls.Fd(), uintptr(request), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// turnInward changes a socket address in a process's memory to the loopback address of its family.
// Other families cannot be reached from outside.
func turnInward(memory *os.File, at int64, size int) {
	// bytes up to the end of the address, after family, port, and for IPv6 the flow
	const v4, v6 = 8, 24
	b := make([]byte, min(max(size, 0), v6))
	if n, _ := memory.ReadAt(b, at); n < len(b) || n < v4 {
		return // the call will fail as well
	}
	var from int
	var loopback netip.Addr
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET:
		from, loopback = 4, netip.AddrFrom4([4]byte{127, 0, 0, 1})
		b = b[:v4]
	case family == unix.AF_INET6 && len(b) == v6:
		from, loopback = 8, netip.IPv6Loopback()
	default:
		return
	}
	if is, _ := netip.AddrFromSlice(b[from:]); !is.Unmap().IsLoopback() {
		_, _ = memory.WriteAt(loopback.AsSlice(), at+int64(from))
	}
}

// Note [Listening]
//
// A job that Flow starts on one machine must be reachable from this machine only. Its ranks move
// data through shared memory (btl=self,vader, so they open no socket), but Open MPI's mpirun (4.1
// and 5) opens a port for launchers on other machines and binds it to all interfaces, whatever its
// parameters say: oob_tcp_if_include chooses which addresses it announces, not where it listens. So
// the system stops the job at each call of bind (seccomp, user notification), and this process
// replaces the address by the loopback address before the call continues. That needs no privilege,
// because the job is our child. Every other system call pays 40 ns for it (measured; 173 ns
// without); a rank makes a few for a message, and none while it computes.
//
// It is wrong if something listens without having bound: the kernel then takes all interfaces. No
// part of Open MPI does. Considered: network namespaces (forbidden on many systems, and without a
// loopback device until it is set up), a preloaded library (a second binary), closing or filtering
// the port afterwards (open until then).
