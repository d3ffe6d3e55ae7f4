package memory

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// fake is a system that has these files and limits.
func fake(t *testing.T, files map[string]string, limits map[int]int64) source {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return source{root, func(what int) (int64, bool) { n, ok := limits[what]; return n, ok }}
}

const (
	info     = "MemTotal:       24567890 kB\nMemFree:         1234 kB\nMemAvailable:   20000000 kB\nSwapTotal:   0 kB\nSwapFree:   0 kB\n"
	swapping = "MemTotal:       1000 kB\nMemAvailable:   500 kB\nSwapTotal:   100 kB\nSwapFree:   50 kB\nHugePages_Total:       0\n"
	v2       = "sys/fs/cgroup/user.slice/a/"
	v1       = "sys/fs/cgroup/memory/docker/b/"
)

// The garbage that a ballast lets accumulate is a small part of a small machine.
func TestBallast(t *testing.T) {
	for kib, want := range map[int64]int64{24567890: ballast, 640 << 10: min(ballast, 20<<20)} {
		s := fake(t, map[string]string{"proc/meminfo": fmt.Sprintf("MemTotal: %d kB\n", kib)}, nil)
		if got := s.ballast(); got != want {
			t.Errorf("of %d KiB: %d, not %d", kib, got, want)
		}
	}
}

func TestMost(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		limits map[int]int64
		want   Limit
	}{
		{"no /proc", nil, nil, Limit{unknown, ""}},
		{"no groups", map[string]string{"proc/meminfo": info}, nil, Limit{24567890 << 10, machine}},
		{"with swap", map[string]string{"proc/meminfo": swapping}, nil, Limit{1100 << 10, machine}},
		{"broken", map[string]string{"proc/meminfo": "MemTotal: 99999999999999999999 kB\n"}, nil, Limit{unknown, ""}},
		{"version 2", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "1048576\n"}, nil, Limit{1 << 20, container}},
		{"no bound", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "max\n"}, nil, Limit{24567890 << 10, machine}},
		{"the group around", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "4194304\n",
			"sys/fs/cgroup/user.slice/memory.max": "2097152\n"}, nil, Limit{2 << 20, container}},
		{"a container's root", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/../..\n", "sys/fs/cgroup/memory.max": "3145728\n"}, nil, Limit{3 << 20, container}},
		{"swap in a group", map[string]string{"proc/meminfo": swapping, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "4096\n", v2 + "memory.swap.max": "max\n"},
			nil, Limit{4096 + 100<<10, container}},
		{"bounded swap in a group", map[string]string{"proc/meminfo": swapping, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "4096\n", v2 + "memory.swap.max": "8192\n"},
			nil, Limit{4096 + 8192, container}},
		{"version 1", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "5:cpu,cpuacct:/x\n9:memory:/docker/b\n", v1 + "memory.limit_in_bytes": "1073741824\n"},
			nil, Limit{1 << 30, container}},
		{"version 1 with swap", map[string]string{"proc/meminfo": swapping, "proc/self/cgroup": "9:memory:/docker/b\n", v1 + "memory.limit_in_bytes": "4096\n",
			v1 + "memory.memsw.limit_in_bytes": "5000\n"}, nil, Limit{5000, container}},
		{"version 1 without a bound", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "9:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, nil, Limit{24567890 << 10, machine}},
		{"addresses", map[string]string{"proc/meminfo": info, "proc/self/status": "Name:\tflowrun\nVmSize:\t    1024 kB\n"}, map[int]int64{syscall.RLIMIT_AS: 3 << 20}, Limit{2 << 20, space}},
		{"data", map[string]string{"proc/meminfo": info, "proc/self/status": "VmData:\t    1024 kB\n"}, map[int]int64{syscall.RLIMIT_DATA: 5 << 20}, Limit{4 << 20, data}},
		{"too many addresses", map[string]string{"proc/self/status": "VmSize:\t    1024 kB\n"}, map[int]int64{syscall.RLIMIT_AS: 1 << 10}, Limit{0, space}},
		{"many addresses", map[string]string{"proc/meminfo": info}, map[int]int64{syscall.RLIMIT_AS: math.MaxInt64}, Limit{24567890 << 10, machine}},
	} {
		if got := fake(t, c.files, c.limits).most(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		limits map[int]int64
		want   Limit
	}{
		{"no /proc", nil, nil, Limit{unknown, ""}},
		{"the machine's", map[string]string{"proc/meminfo": info}, nil, Limit{20000000 << 10, machine}},
		{"with swap", map[string]string{"proc/meminfo": swapping}, nil, Limit{550 << 10, machine}},
		{"an old kernel", map[string]string{"proc/meminfo": "MemTotal: 77 kB\n"}, nil, Limit{77 << 10, machine}},
		{"version 2", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "10000\n", v2 + "memory.current": "7000\n",
			v2 + "memory.stat": "anon 4000\ninactive_file 1000\nactive_file 50\n"}, nil, Limit{4000, container}},
		{"version 1", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "9:memory:/docker/b\n", v1 + "memory.limit_in_bytes": "10000\n", v1 + "memory.usage_in_bytes": "7000\n",
			v1 + "memory.stat": "inactive_file 5\ntotal_inactive_file 2000\n"}, nil, Limit{5000, container}},
		{"over the limit", map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/user.slice/a\n", v2 + "memory.max": "10000\n", v2 + "memory.current": "12000\n"}, nil, Limit{0, container}},
		{"addresses", map[string]string{"proc/meminfo": info, "proc/self/status": "VmSize:\t    1024 kB\n"}, map[int]int64{syscall.RLIMIT_AS: 3 << 20}, Limit{2 << 20, space}},
	} {
		if got := fake(t, c.files, c.limits).room(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// On this machine, whatever it is, what is free is no more than what there is, and a few bytes can
// be had.
func TestThisMachine(t *testing.T) {
	most, room := Most(), Room()
	if most.Bytes <= 0 || room.Bytes <= 0 || room.Bytes > most.Bytes {
		t.Errorf("%v free of %v", room, most)
	}
	for _, n := range []int64{0, 1, asked, asked + 1} {
		if err := Reserve(n); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestReserveRefuses(t *testing.T) {
	for _, err := range []error{Reserve(math.MaxInt64), Reserve(1 << 56), ReserveProduct(1<<40, 1<<40), ReserveProduct(math.MaxInt64, 2)} {
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "more than there is (") {
			t.Errorf("%v", err)
		}
	}
	if _, err := Make[float64](1 << 53); err == nil {
		t.Error("64 PiB were made")
	}
	s := []int32{1, 2, 3}
	if got, err := Grow(s, 1<<56); err == nil || len(got) != 3 {
		t.Errorf("%d elements with room for %d, %v", len(got), cap(got), err)
	}
	got, err := Grow(s, 5)
	if err != nil || len(got) != 3 || cap(got) < 8 || got[2] != 3 {
		t.Errorf("%v with room for %d, %v", got, cap(got), err)
	}
}

func TestThreads(t *testing.T) {
	const group = "sys/fs/cgroup/user.slice/a/"
	for _, c := range []struct {
		name   string
		files  map[string]string
		limits map[int]int64
		n      int
		want   string
	}{
		{"no limits", nil, nil, 100_000, ""},
		{"a group", map[string]string{"proc/self/cgroup": "0::/user.slice/a\n", group + "pids.max": "20\n", group + "pids.current": "12\n"}, nil, 8, ""},
		{"a full group", map[string]string{"proc/self/cgroup": "0::/user.slice/a\n", group + "pids.max": "20\n", group + "pids.current": "12\n"}, nil, 9,
			"9 threads are more than may be started (8, pids.max of its control group)"},
		{"no bound", map[string]string{"proc/self/cgroup": "0::/user.slice/a\n", group + "pids.max": "max\n", group + "pids.current": "12\n"}, nil, 9, ""},
		{"version 1", map[string]string{"proc/self/cgroup": "8:pids:/b\n", "sys/fs/cgroup/pids/b/pids.max": "3\n", "sys/fs/cgroup/pids/b/pids.current": "4\n"}, nil, 1,
			"1 threads are more than may be started (0, pids.max of its control group)"},
		{"stacks", map[string]string{"proc/self/status": "VmSize:\t    1024 kB\n"}, map[int]int64{syscall.RLIMIT_AS: 41 << 20, syscall.RLIMIT_STACK: 4 << 20}, 11,
			"11 threads are more than may be started (10, ulimit -v)"},
		{"stacks of any size", nil, map[int]int64{syscall.RLIMIT_AS: 40 << 20}, 6, "6 threads are more than may be started (5, ulimit -v)"},
	} {
		got := ""
		if err := fake(t, c.files, c.limits).threads(c.n); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestKills(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "nr_free_pages 12\noom_kill 7\nnuma_hit 3\n": 7, "oom_kill many\n": 0} {
		if got := fake(t, map[string]string{"proc/vmstat": text}, nil).kills(); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestBound: a piece may be as large as the bound, whatever else the process takes, and no larger. A
// list that grows may be larger than the bound. What the process takes may exceed it by half and 64
// MiB.
func TestBound(t *testing.T) {
	if system.mapped("RssAnon") == 0 {
		t.Skip("this system does not tell the memory of a process")
	}
	const limit = 4 << 20
	Bound(Limit{limit, "this test"})
	defer Bound(Limit{})
	touched := make([]byte, 32<<20)
	for i := range touched {
		touched[i] = 1
	}
	if err := Reserve(limit); err != nil {
		t.Errorf("as much as the bound: %v", err)
	}
	if err := Reserve(limit + 1); err == nil {
		t.Error("a byte more than the bound is granted")
	}
	if _, err := Grow([]byte(nil), 2*limit); err != nil {
		t.Errorf("a list: %v", err)
	}
	more := make([]byte, 48<<20)
	for i := range more {
		more[i] = 1
	}
	var full *Error
	if err := Reserve(limit); !errors.As(err, &full) || full.Beside < 72<<20 {
		t.Errorf("beside 80 MiB: %v", err)
	}
	runtime.KeepAlive(touched)
	runtime.KeepAlive(more)
}

func TestErrorTellsTheBound(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{80e9, 0, Limit{24 << 30, machine}}, "74.5 GiB are more than there is (24 GiB, this machine)"},
		{Error{80e9, 0, Limit{4 << 30, space}}, "74.5 GiB are more than there is (4 GiB, ulimit -v)"},
		{Error{5 << 30, 0, Limit{unknown, ""}}, "the system gives no 5 GiB"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
