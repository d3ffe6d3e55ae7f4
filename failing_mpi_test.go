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
	"strconv"
	"strings"
	"testing"
	"time"
)

// idle is the warning that some ranks have nothing to do.
var idle = regexp.MustCompile(`warning\[W002\].*\n.*\n`)

// mpiAgrees returns a function that runs the whole command on a program. It checks that MPI ranks print
// what the definition prints and tell the same failure. It returns the exit code.
func mpiAgrees(t *testing.T) func(text string, ranks int) (code int) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed")
	}
	command := os.Getenv("FLOW_COMMAND") // make has built it
	if command == "" {
		command = filepath.Join(t.TempDir(), "flowrun")
		if out, err := exec.Command("go", "build", "-tags", "mpi", "-o", command, "./cmd/flowrun").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	} else if _, err := os.Stat(command); err != nil { // go test runs this again when the command is another one
		t.Fatal(err)
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
	return func(text string, ranks int) int {
		if err := os.WriteFile("p.flow", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		want, code := run("eval", "p.flow")
		if got, exit := run("p.flow", "--distributed", "--ranks", strconv.Itoa(ranks), "--threads", "1", "--grace", "1h"); got != want || exit != code {
			t.Errorf("on %d ranks, exit %d:\n%swant %d\n%sof\n%s", ranks, exit, got, code, want, text)
		}
		return code
	}
}

// TestMPIFailuresAreTheSame: programs that fail, and drawn ones that may fail, print the same on MPI
// ranks.
func TestMPIFailuresAreTheSame(t *testing.T) {
	agrees := mpiAgrees(t)
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
		if agrees(text, []int{2, 4, 3, 5}[i%4]) != 0 {
			failed++
		}
	}
	if failed < len(texts)/2 {
		t.Errorf("%d of %d programs fail", failed, len(texts))
	}
}

// TestSoakMPIFailures compares drawn programs for FLOW_SOAK seconds.
func TestSoakMPIFailures(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	agrees, seed := mpiAgrees(t), uint64(time.Now().UnixNano())
	n, failed := 0, 0
	for stop := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(stop) && !t.Failed(); n++ {
		p := newFailing(rand.New(rand.NewPCG(seed+uint64(n), 47)))
		if agrees(p.text(), 2+n%4) != 0 {
			failed++
		}
	}
	t.Logf("%d programs from seed %d on, %d fail", n, seed, failed)
}
