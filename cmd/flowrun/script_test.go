package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"flow/runtime/dist/transport/mpi"
)

// This file runs the scripts of testdata/script: whole command lines with what they print and how
// they exit.
//
//	go test ./cmd/flowrun -run Script/bad_syntax -update      rewrites the goldens of one script

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flowrun": main, "patient": func() {
		grace = time.Hour
		main()
	}})
}

func TestScript(t *testing.T) {
	testscript.Run(t, params(filepath.Join("testdata", "script")))
}

// params are the settings of all script tests. A process takes ten times as long under the race
// detector, so scripts that have little to do with goroutines are left out under it ([race] skip), and
// so is the evaluator, which has one goroutine.
func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("FLOW_CACHE", filepath.Join(env.WorkDir, ".cache")) // nothing measured before counts
			// A process under the race detector waits a second at its end, for others to report.
			env.Setenv("GORACE", "atexit_sleep_ms=100 "+env.Getenv("GORACE"))
			env.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
			env.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
			first, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
			env.Setenv("FLOWRUN", filepath.Join(first, "flowrun")) // for scripts that change PATH
			for name, dir := range map[string]string{"EXAMPLES": "examples", "BENCH": "bench", "INPUTS": filepath.Join("testdata", "inputs")} {
				path, err := filepath.Abs(filepath.Join("..", "..", dir))
				if err != nil {
					return err
				}
				env.Setenv(name, path)
			}
			env.Setenv("DATA", realInputs())
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "mpi":
				return mpi.Available(), nil
			case "ulimit": // the race detector wants terabytes of addresses
				return runtime.GOOS == "linux" && !raceDetector, nil
			case "race":
				return raceDetector, nil
			case "soak": // a fault that other scripts make, too
				return os.Getenv("FLOW_SOAK_TIMES") != "", nil
			case "data":
				_, err := os.Stat(realInputs())
				return err == nil, nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":        exits,
			"unchanged":    unchanged,
			"traced":       traced,
			"repaired":     repaired,
			"interrupted":  interrupted,
			"stopped":      stopped,
			"killedmidway": killedMidway,
			"survivors":    survivors,
			"terminal":     terminal,
		},
	}
}

// realInputs is the folder of the larger real inputs, which need not be there: FLOW_DATA, or
// ../shared/data beside the project.
func realInputs() string {
	if dir := os.Getenv("FLOW_DATA"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data"))
	if err != nil {
		return ""
	}
	return dir
}

// exits CODE COMMAND ARGS... runs a command and demands its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("%v exits with %d, want %d", args[1:], code, want)
	}
}

// unchanged DIR NAMES... demands that DIR holds exactly these files: nothing half-written, nothing
// left behind.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: unchanged DIR NAMES...")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	want := map[string]bool{}
	for _, n := range args[1:] {
		want[n] = true
	}
	for _, e := range entries {
		if !want[e.Name()] {
			ts.Fatalf("%s holds %s", args[0], e.Name())
		}
		delete(want, e.Name())
	}
	for n := range want {
		ts.Fatalf("%s lacks %s", args[0], n)
	}
}

// traced DIR FILE TASKS demands that DIR holds FILE alone, a whole trace with at least so many
// tasks, none of which ends before it begins. TASKS may be "any", of a run that may have been
// stopped before it had begun, or when it was too late to write: then DIR may be empty.
func traced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: traced DIR FILE TASKS")
	}
	least := 0
	if args[2] == "any" {
		if entries, err := os.ReadDir(ts.MkAbs(args[0])); err == nil && len(entries) == 0 {
			return
		}
	} else {
		var err error
		least, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	unchanged(ts, false, args[:2])
	var all struct {
		TraceEvents []struct {
			Cat, Name string
			Dur       float64
		}
	}
	if err := json.Unmarshal([]byte(ts.ReadFile(filepath.Join(args[0], args[1]))), &all); err != nil {
		ts.Fatalf("%s is no trace: %v", args[1], err)
	}
	tasks := 0
	for _, e := range all.TraceEvents {
		if e.Cat != "task" {
			continue
		}
		if tasks++; e.Name == "" || e.Dur < 0 {
			ts.Fatalf("%s has the task %+v", args[1], e)
		}
	}
	if tasks < least {
		ts.Fatalf("%s has %d tasks, want at least %d", args[1], tasks, least)
	}
}
