package dist

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"flow/ir/op"
)

const dashes = "--------------------------------------------------------------------------\n"

func TestNoiseFilter(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"error: one\n  | two\n", "error: one\n  | two\n"},
		{dashes + "Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n" + dashes + "after\n", "after\n"},
		{dashes + "mpirun was unable to launch: no such file\n" + dashes, dashes + "mpirun was unable to launch: no such file\n" + dashes},
		{"[h:1] 2 more processes have sent help message help-mpi-api.txt / mpi-abort\n[h:1] other\n", "[h:1] other\n"},
		{"progress 10%\rprogress 20%", "progress 10%\rprogress 20%"},
		{dashes + "a table\n", dashes + "a table\n"},
		{"[h:1] Read -1, expected 524288, errno = 3\n[h:1] Read -1, expected 524288, errno = 14\n", "[h:1] Read -1, expected 524288, errno = 14\n"},
		{"- a list\n-- b\n", "- a list\n-- b\n"},
		{"[h:7] ORTE_ERROR_LOG: Out of resource\n[h:77] a\n]:7] b\nerror[E702]: rank 1 died\n[h:7] Signal: Segmentation fault (11)\n", "[h:77] a\n]:7] b\nerror[E702]: rank 1 died\n"},
		{"[h:7] ORTE_ERROR_LOG: Out of resource\nanother line\n", "another line\n[h:7] ORTE_ERROR_LOG: Out of resource\n"}, // nobody else says why
	} {
		for step := 1; step < 80; step += 7 { // however it is cut
			var out strings.Builder
			n := &noiseFilter{to: &out}
			n.of(7)
			for i := 0; i < len(c.in); i += step {
				if _, err := n.Write([]byte(c.in[i:min(i+step, len(c.in))])); err != nil {
					t.Fatal(err)
				}
			}
			n.flush()
			if out.String() != c.want {
				t.Errorf("%q in steps of %d: %q, want %q", c.in, step, out.String(), c.want)
			}
		}
	}
}

// What a user sees must not wait for a line to end.
func TestNoiseFilterDoesNotHoldBack(t *testing.T) {
	var out strings.Builder
	n := &noiseFilter{to: &out}
	for _, s := range []string{"10%", "\r20%"} {
		if _, err := n.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "10%\r20%" {
		t.Errorf("%q has come through", out.String())
	}
}

func TestNoLauncherIsSaid(t *testing.T) {
	_, err := Launch(context.Background(), LaunchOptions{Mpirun: "no-such-mpirun"})
	var f *op.Failure
	if !errors.As(err, &f) || f.Code != "E704" || !strings.Contains(f.Help, "openmpi-bin") {
		t.Errorf("%#v", err)
	}
}

func TestRanksThatLeaveNoStatusHaveFailed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(statusVariable, dir)
	if got := Leave(3); got != 3 {
		t.Errorf("Leave(3) = %d", got)
	}
	if got := collect(dir, 1); got != 3 {
		t.Errorf("collected %d, want 3", got)
	}
	if err := os.WriteFile(dir+"/2", []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := collect(dir, 2); got != 3 {
		t.Errorf("collected %d, want 3", got)
	}
	if got := collect(t.TempDir(), 1); got != 1 {
		t.Errorf("collected %d from nothing, want 1", got)
	}
}

// The folder of a job is there as long as somebody has its lock; what others own or named otherwise
// stays.
func TestFoldersOfDeadJobsAreSwept(t *testing.T) {
	base := t.TempDir()
	alive, err := newFolder(base)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := newFolder(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.WriteFile(dead.path+"/segment", nil, 0o600), dead.lock.Close(), os.Mkdir(base+"/other", 0o700),
		os.WriteFile(base+"/flowrun-notes", nil, 0o600), os.Symlink("other", base+"/flowrun-link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	next, err := newFolder(base)
	if err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{alive.path: true, dead.path: false, next.path: true, base + "/other": true, base + "/flowrun-notes": true, base + "/flowrun-link": true} {
		if _, err := os.Lstat(path); (err == nil) != there {
			t.Errorf("%s: %v, want it to be there: %v", path, err, there)
		}
	}
	alive.remove()
	if _, err := os.Stat(alive.path); !os.IsNotExist(err) {
		t.Errorf("%s was removed and is there: %v", alive.path, err)
	}
	next.remove()
}
