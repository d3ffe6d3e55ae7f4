package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// Children are found whichever thread has started them, with the kernel's lists and without. A name
// with a parenthesis hides no parent.
func TestChildrenOf(t *testing.T) {
	named := filepath.Join(t.TempDir(), "a) 1 (b")
	if err := os.Symlink("/bin/sleep", named); err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, program := range []string{"sleep", named} {
		cmd := exec.Command(program, "600")
		started := make(chan error)
		go func() {
			runtime.LockOSThread() // a thread of its own, which stays
			started <- cmd.Start()
			_ = cmd.Wait()
			runtime.UnlockOSThread()
		}()
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		want = append(want, cmd.Process.Pid)
		defer func() { _ = cmd.Process.Kill() }()
	}
	for name, children := range map[string]func(int) []int{"lists": childrenOf, "parents": childrenByParent} {
		got := children(os.Getpid())
		for _, pid := range want {
			if !slices.Contains(got, pid) {
				t.Errorf("%s: process %d is not among the children %v", name, pid, got)
			}
			if of := children(pid); len(of) > 0 {
				t.Errorf("%s: a process without children has %v", name, of)
			}
		}
		if slices.Contains(got, os.Getpid()) {
			t.Errorf("%s: a process is among its own children", name)
		}
	}
}
