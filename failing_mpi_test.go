//go:build mpi

package flow

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// idle is the warning that some ranks have nothing to do.
var idle = regexp.MustCompile(`warning\[W002\].*\n.*\n`)

// A program that fails prints on MPI ranks what it prints by its definition, and tells the same
// failure: the whole command is run.
func TestMPIFailuresAreTheSame(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed")
	}
	command := filepath.Join(t.TempDir(), "flowrun")
	if out, err := exec.Command("go", "build", "-tags", "mpi", "-o", command, "./cmd/flowrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(t.TempDir())
	writeBroken(t)
	run := func(args ...string) (string, int) {
		c := exec.Command(command, args...)
		c.Env = append(os.Environ(), "FLOW_CACHE="+t.TempDir(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1")
		var out, diagnostic bytes.Buffer
		c.Stdout, c.Stderr = &out, &diagnostic
		err := c.Run()
		var code *exec.ExitError
		if err != nil && !errors.As(err, &code) {
			t.Fatal(err)
		}
		_ = taken()
		told := diagnostic.String()
		if err == nil { // a failed run does not tell it
			told = idle.ReplaceAllString(told, "")
		}
		return out.String() + onRank.ReplaceAllString(told, ""), c.ProcessState.ExitCode()
	}
	var texts []string
	for _, p := range inOrder {
		texts = append(texts, strings.Join(failingHead, "\n")+"\n"+p.text+"\n")
	}
	for seed := range uint64(8) {
		p := newFailing(rand.New(rand.NewPCG(seed, 47)))
		texts = append(texts, p.text())
	}
	failed := 0
	for i, text := range texts {
		if err := os.WriteFile("p.flow", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		want, code := run("eval", "p.flow")
		ranks := []string{"2", "4", "3", "5"}[i%4]
		if got, exit := run("p.flow", "--distributed", "--ranks", ranks, "--threads", "1", "--grace", "1h"); got != want || exit != code {
			t.Errorf("on %s ranks, exit %d:\n%swant %d\n%sof\n%s", ranks, exit, got, code, want, text)
		}
		failed += code
	}
	if failed < len(texts)/2 {
		t.Errorf("%d of %d programs fail", failed, len(texts))
	}
}
