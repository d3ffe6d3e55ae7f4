package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"flow/runtime/replay"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file measures how ranks help each other with a loop for real: beside the simulation of the same
// loop, and while ranks are stopped now and then.

// helpTechniques are compared; the first takes no help.
var helpTechniques = []string{"STATIC", "AUTO_CHUNK", "GSS", "FAC2", "COST"}

const (
	helpDelay  = 20e-6            // simulated seconds of a message
	helpBudget = 40 * time.Second // after which a table begins no other turn
)

// helpStop is how long a rank is stopped, and helpPause the longest time between two stops.
const (
	helpStop  = 50 * time.Millisecond
	helpPause = 100 * time.Millisecond
)

func help(b *bench) error {
	if err := b.helpSimulated(); err != nil {
		return err
	}
	if b.mpi == "" {
		b.skip("flowrun with MPI did not build: no rank is stopped")
		return nil
	}
	return b.helpStopped()
}

// turns calls f b.reps times, or until helpBudget is over, and at least once. It returns the number of
// calls.
func (b *bench) turns(f func(turn int) error) (int, error) {
	began := time.Now()
	for k := 0; ; k++ {
		if k > 0 && (k >= b.reps || time.Since(began) > helpBudget) {
			return k, nil
		}
		if err := f(k); err != nil {
			return k, err
		}
	}
}

// helpSimulated runs a loop on two ranks under each technique. It replays the trace of each run in
// virtual time under the same technique and prints the percent of the ideal that both reach. A trace
// has the costs of chunks: of two under STATIC, of each row under SS.
func (b *bench) helpSimulated() error {
	file := filepath.Join(b.dir, "help.json")
	args := []string{b.program("rows.flow"), "--set=n=400", "--set=again=6", "--distributed", "--backend=mem", "--ranks=2", "--threads=1", "--trace=" + file}
	names := append(slices.Clone(helpTechniques), "SS")
	real, virtual, ratios := make([]result, len(names)), make([]result, len(names)), make([]result, len(names))
	turns, err := b.turns(func(int) error {
		for i, name := range names {
			t, err := schedule.Lookup(name)
			if err != nil {
				return err
			}
			if _, err := launch(nil, b.flowrun, append(args, "--partitioning="+name)...); err != nil {
				return err
			}
			o, seconds, err := sharedLoop(file)
			if err != nil {
				return err
			}
			s, err := replay.SimulateRanks([]replay.Operator{o}, t, replay.Cluster{Ranks: 2, Threads: 1, H: virtualClaim, Delay: helpDelay}, 0)
			if err != nil {
				return err
			}
			real[i].seconds = append(real[i].seconds, 100*s.Ideal/seconds)
			virtual[i].seconds = append(virtual[i].seconds, s.Percent())
			ratios[i].seconds = append(ratios[i].seconds, seconds/s.Time)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Escape times of 400 x 400 points, six executions of the loop, two ranks of one thread over mem. Percent of the ideal for the costs in the run's trace:\n"+
		"of the run, and of the same trace in virtual time under the same technique, with %g us a message. Medians of %d turns.\n\n"+
		"| technique | run, %% of ideal | simulated, %% of ideal | time of the run over simulated |\n|:--|--:|--:|--:|\n", helpDelay*1e6, turns)
	for i, name := range names {
		fmt.Fprintf(b.out, "| %s | %.1f | %.1f | %.2f |\n", name, real[i].median(), virtual[i].median(), ratios[i].median())
	}
	fmt.Fprintln(b.out)
	return nil
}

// sharedLoop reads the parfor with most work from a trace of ranks that share its rows. o has the costs
// of all rows for each execution. seconds sums, over the executions, the time from the first rank's
// begin to the last rank's end.
func sharedLoop(file string) (o replay.Operator, seconds float64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return o, 0, err
	}
	defer f.Close()
	recordings, err := trace.ReadLoops(f)
	if err != nil {
		return o, 0, err
	}
	var parts []replay.Operator // by rank
	for _, r := range recordings {
		most := 0.
		var longest replay.Operator
		for _, x := range replay.FromRecords(r.Rank, r.Loops, replay.Fine) {
			sum := 0.
			for i := range x.Loops {
				sum += x.Loops[i].Costs.Total()
			}
			if x.Name == "parfor" && sum > most {
				most, longest = sum, x
			}
		}
		parts = append(parts, longest)
	}
	for k := range parts[0].Loops {
		var costs []float64
		begin, end := int64(0), int64(0)
		for i := range parts {
			if len(parts[i].Loops) != len(parts[0].Loops) {
				return o, 0, fmt.Errorf("the ranks have executed the loop %d and %d times", len(parts[0].Loops), len(parts[i].Loops))
			}
			l := &parts[i].Loops[k]
			costs = append(costs, l.Costs.Costs()...)
			if i == 0 || l.Record.Start < begin {
				begin = l.Record.Start
			}
			end = max(end, l.Record.End)
		}
		o.Loops = append(o.Loops, replay.Costs(costs).Loops...)
		seconds += float64(end-begin) / 1e9
	}
	return o, seconds, nil
}

// helpStopped compares techniques on three MPI ranks. A random rank is stopped again and again, by the
// same seed for each technique. It prints the time over that of STATIC. All must print the same bytes.
func (b *bench) helpStopped() error {
	args := []string{b.program("rows.flow"), "--set=n=1200", "--set=again=6", "--distributed", "--backend=mpi", "--ranks=3", "--threads=1", "--stats=json"}
	results := make([]result, len(helpTechniques))
	ratios := make([]result, len(helpTechniques))
	want := ""
	turns, err := b.turns(func(turn int) error {
		for i, name := range helpTechniques {
			out, seconds, err := stoppedRun(rand.New(rand.NewPCG(uint64(turn), 1)), b.mpi, append(args, "--partitioning="+name)...)
			if err != nil {
				return err
			}
			if want == "" {
				want = out
			}
			if out != want {
				return fmt.Errorf("%s prints %q, and %s %q", name, out, helpTechniques[0], want)
			}
			results[i].seconds = append(results[i].seconds, seconds)
			ratios[i].seconds = append(ratios[i].seconds, seconds/results[0].seconds[turn])
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Three MPI ranks, 1200 x 1200 points; a random rank is stopped for %v, then none for up to %v, and so on. Time over that of STATIC, medians of %d turns.\n\n"+
		"| technique | seconds | over STATIC |\n|:--|--:|--:|\n", helpStop, helpPause, turns)
	for i, name := range helpTechniques {
		fmt.Fprintf(b.out, "| %s | %.3f | %.2f |\n", name, results[i].median(), ratios[i].median())
	}
	fmt.Fprintln(b.out)
	return nil
}

// stoppedRun runs flowrun on ranks, and stops one of them at a time. It returns the output and the
// seconds of the execution.
func stoppedRun(r *rand.Rand, name string, args ...string) (out string, seconds float64, err error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), peerEnv()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(limit); ; {
		select {
		case err := <-ended:
			if err != nil {
				return "", 0, fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
			}
			var stats rankRun
			if err := lastJSON(stderr.Bytes(), &stats); err != nil {
				return "", 0, err
			}
			return stdout.String(), stats.Seconds, nil
		case <-time.After(time.Duration(r.Int64N(int64(helpPause)))):
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill() // it may have ended
			return "", 0, fmt.Errorf("%s has not ended after %v", name, limit)
		}
		if ranks := rankProcesses(cmd.Process.Pid); len(ranks) > 0 {
			pid := ranks[r.IntN(len(ranks))]
			if syscall.Kill(pid, syscall.SIGSTOP) == nil {
				time.Sleep(helpStop)
				_ = syscall.Kill(pid, syscall.SIGCONT) // fails only if the rank has ended
			}
		}
	}
}

// statusParent finds the parent in the status of a process.
var statusParent = regexp.MustCompile(`(?m)^PPid:\s*(\d+)$`)

// rankProcesses returns the processes of MPI ranks below a process.
func rankProcesses(root int) (ranks []int) {
	parents := map[int]int{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if m := statusParent.FindSubmatch(status); err == nil && m != nil {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			parents[pid], _ = strconv.Atoi(string(m[1]))
		}
	}
	for pid := range parents {
		above := pid
		for above > 1 && above != root {
			above = parents[above]
		}
		if above != root || pid == root {
			continue
		}
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && bytes.Contains(env, []byte("\x00OMPI_COMM_WORLD_RANK=")) {
			ranks = append(ranks, pid)
		}
	}
	return ranks
}
