package flow

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// This file makes the temporary files of Output, and removes those of killed runs. The writing
// process holds a lock on its file, which ends with the process: a temporary file without a lock
// has no writer.

// leftover matches the names that temporary makes: the file's own name, the host's number, the
// file's.
var leftover = regexp.MustCompile(`^\..*\.flow-([0-9a-f]{8})-[0-9a-f]{8}$`)

// temporary opens and locks a new file beside target, with permissions limited by the umask.
func temporary(target string, perm fs.FileMode) (string, *os.File, error) {
	dir, base := filepath.Split(target)
	for tried := range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.flow-%s-%08x", base, hostNumber(), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return name, nil, err
		}
		// A file system without locks (ENOTSUP, ENOLCK) has no sweeps either.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if isAt(f, name) {
			return name, f, nil
		}
		_ = f.Close() // another process has swept it between the two calls
		// Processes that sweep and make files in step with each other would do so forever.
		time.Sleep(rand.N(time.Duration(tried+1) * 50 * time.Microsecond))
	}
	return "", nil, fmt.Errorf("no free temporary name beside %s", target)
}

// isAt reports whether name is still the open file.
func isAt(f *os.File, name string) bool {
	here, err := f.Stat()
	there, other := os.Stat(name)
	return err == nil && other == nil && os.SameFile(here, there)
}

// hostNumber identifies a machine in names.
func hostNumber() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	h := fnv.New32a()
	h.Write([]byte(name)) // a hash takes everything
	return fmt.Sprintf("%08x", h.Sum32())
}

// sweep removes leftovers of killed runs from dir, as far as possible.
//
// A network file system may keep the locks of each machine to itself (NFS with local_lock). So
// files of other machines are not removed there.
func sweep(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	own, local := hostNumber(), onOneMachine(d)
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if m := leftover.FindStringSubmatch(name); m != nil && (local || m[1] == own) {
				removeUnlocked(filepath.Join(dir, name))
			}
		}
		if err != nil {
			return
		}
	}
}

// removeUnlocked removes a regular file that no process has locked.
func removeUnlocked(name string) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && isAt(f, name) {
		// with the lock held, so that a process that has just made it notices
		_ = os.Remove(name)
	}
}
