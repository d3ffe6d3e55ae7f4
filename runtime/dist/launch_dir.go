package dist

// This file makes the folders of a job, which hold exit codes, session files of the launcher, and
// segments of shared memory, and are removed after the job. A job that SIGKILL ended is cleaned up
// by the next.

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// folderPrefix starts the names of such folders.
const folderPrefix = "flowrun-"

// sharedMemory returns where segments of shared memory are files, or "".
func sharedMemory() string {
	const dir = "/dev/shm"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// folder is a directory that is locked as long as this process, or a launcher that has inherited
// the lock, lives.
type folder struct {
	path string
	lock *os.File
}

// newFolder makes one in base, after removing those of ended jobs.
func newFolder(base string) (*folder, error) {
	sweepFolders(base)
	for range 100 {
		path, err := os.MkdirTemp(base, folderPrefix)
		if err != nil {
			return nil, err
		}
		lock, err := os.Open(path)
		if err != nil {
			continue // swept between the two calls
		}
		// A file system without locks has no sweeps either.
		_ = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		if here, err := lock.Stat(); err == nil {
			if there, err := os.Lstat(path); err == nil && os.SameFile(here, there) {
				return &folder{path, lock}, nil
			}
		}
		_ = lock.Close() // it was only locked
	}
	return nil, errors.New("no folder for the ranks in " + base)
}

// remove removes the folder and what is in it.
func (f *folder) remove() {
	_ = os.RemoveAll(f.path) // the next job sweeps what stays
	_ = f.lock.Close()
}

// sweepFolders removes the folders of this user that no process has locked.
func sweepFolders(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		lock, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if err != nil {
			continue // another user's, or it has just gone
		}
		if own(lock) && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			// with the lock held: a process that has just made it notices
			_ = os.RemoveAll(path)
		}
		_ = lock.Close()
	}
}

// own reports whether a file belongs to the user of this process.
func own(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// settleHere prepares a job whose ranks are all on this machine: it leaves nothing behind, and
// cannot be reached from elsewhere.
func (j *job) settleHere() error {
	f, err := newFolder(os.TempDir())
	if err != nil {
		return err
	}
	j.folders = append(j.folders, f)
	j.status = filepath.Join(f.path, "codes")
	if err := os.Mkdir(j.status, 0o700); err != nil {
		return err
	}
	env := []string{"OMPI_MCA_orte_abort_on_non_zero_status=0", "TMPDIR=" + f.path, statusVariable + "=" + j.status}
	if dir := sharedMemory(); dir != "" {
		m, err := newFolder(dir)
		if err != nil {
			return err
		}
		j.folders = append(j.folders, m)
		for _, who := range []string{"btl_vader", "btl_sm", "osc_sm", "osc_rdma"} {
			env = append(env, "OMPI_MCA_"+who+"_backing_directory="+m.path)
		}
	}
	// shared memory alone
	for name, value := range map[string]string{"pml": "ob1", "btl": "self,vader"} {
		if name = "OMPI_MCA_" + name; os.Getenv(name) == "" {
			env = append(env, name+"="+value)
		}
	}
	j.o.Env = append(env, j.o.Env...)
	return nil
}

// leaveNothing removes what settleHere made.
func (j *job) leaveNothing() {
	for _, f := range j.folders {
		f.remove()
	}
}
