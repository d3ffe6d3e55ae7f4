//go:build mpi

package dist

// These tests start ranks of this test binary under mpirun; TestMain plays a rank when it finds
// itself in one.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/dist/calm"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mpi"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
)

// launchVariable makes this test binary launch two ranks of the scene that it names.
const launchVariable = "FLOW_TEST_LAUNCH"

func TestMain(m *testing.M) {
	if scene := os.Getenv("FLOW_TEST_SCENE"); scene != "" && mpi.Launched() {
		os.Exit(Leave(playRank(scene)))
	}
	if scene := os.Getenv(launchVariable); scene != "" {
		_ = os.Unsetenv(launchVariable) // or ranks would launch again, if they are not known as such
		exit, err := Launch(context.Background(), LaunchOptions{Ranks: 2, Leaves: true, Args: []string{}, Env: []string{"FLOW_TEST_SCENE=" + scene}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// playRank is one rank of a scene; the result is its exit code. It ends as flowrun does.
func playRank(scene string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if rank := os.Getenv("OMPI_COMM_WORLD_RANK"); scene == "late" {
		fmt.Fprintf(os.Stderr, "rank %s: pid %d\n", rank, os.Getpid())
		if rank == "1" {
			time.Sleep(time.Hour)
		}
	}
	c, err := mpi.Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	pool := local.NewPool(1)
	defer pool.Close()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "rank %d: %s\n", c.Rank(), fmt.Sprintf(format, args...))
	}
	run := func(p *plan.Plan, o Options) (*Report, int) {
		o.Env = &enginetest.Env{}
		r, err := Run(ctx, c, pool, p, o)
		var f *Failure
		if err == nil {
			return r, 0
		}
		if !errors.As(err, &f) {
			say("%v", err)
			return nil, 3
		}
		say("error[%s]: %s", f.Code, f.Message(p))
		if !f.Clean {
			c.Abort(1)
		}
		if ctx.Err() != nil {
			return nil, 130
		}
		return nil, 1
	}
	say("pid %d", os.Getpid())
	code := 0
	switch scene {
	case "random":
		for seed := range uint64(10) {
			p := enginetest.Random(seed, 400, c.Size())
			o, err := enginetest.NewOracle(p)
			if err != nil {
				say("%v", err)
				return 3
			}
			_, code := run(p, Options{Observe: o.Observe, Budget: 1 << (10 + seed), placed: int(seed % 2)})
			if code != 0 {
				return code
			}
			if err := o.ErrOf(func(id int) bool { return p.Rank(nodeID(id)) == c.Rank() }); err != nil {
				say("seed %d: %v", seed, err)
				return 4
			}
		}
	case "fail": // and the Comm lives on
		p, _ := spoiled(1, 300, c.Size(), 60)
		_, code = run(p, Options{placed: 1})
		if _, again := run(enginetest.Random(2, 300, c.Size()), Options{}); again != 0 {
			return again
		}
	case "slow", "long": // for about one second, and for a minute
		p, err := plan.Parse(slow(c.Size(), map[string]int{"slow": 100, "long": 6000}[scene]), enginetest.Table())
		if err != nil {
			say("%v", err)
			return 3
		}
		var first sync.Once
		_, code = run(p, Options{Observe: func(ir.ID, value.Value) { first.Do(func() { say("runs") }) }})
	case "silent": // a look every 20 ms, so that silence is mentioned soon
		p, err := plan.Parse(slow(c.Size(), 6000), enginetest.Table())
		if err != nil {
			say("%v", err)
			return 3
		}
		var first sync.Once
		_, code = run(p, Options{looks: 20 * time.Millisecond, Notice: func(text string) { say("%s", text) },
			Observe: func(ir.ID, value.Value) { first.Do(func() { say("runs") }) }})
	case "idle":
		p, err := plan.Parse("plan ranks 2\nown 0\n%0 = sleep() {us=4000000} : i64\n", enginetest.Table())
		if err != nil {
			say("%v", err)
			return 3
		}
		if _, code := run(enginetest.Random(1, 50, 2), Options{}); code != 0 { // the first run loads code
			return code
		}
		before, start := cpuTime(), time.Now()
		var report *Report
		report, code = run(p, Options{})
		say("cpu %.4f", (cpuTime()-before).Seconds()/time.Since(start).Seconds())
		for _, x := range report.Ranks {
			say("polls of rank %d: %d", x.Rank, x.Polls)
		}
	case "latency":
		code = pingPong(c, pool, say)
	}
	if err := c.Close(); err != nil {
		say("%v", err)
		return 5
	}
	return code
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pingPong passes a tile from rank to rank, which is all that its tasks do.
// Large tiles are few: what matters is what a message costs beside its bytes.
func pingPong(c transport.Comm, pool *local.Pool, say func(string, ...any)) int {
	for _, side := range []int{1, 32, 256} {
		hops := 800
		if side > 100 {
			hops = 100
		}
		var own, text strings.Builder
		own.WriteString("own 0")
		fmt.Fprintf(&text, "%%0 = fill() {v=1.0} : f64[%d,%d]\n", side, side)
		for i := 1; i < hops; i++ {
			fmt.Fprintf(&own, " %d %d", (i-1)%2, i%2)
			fmt.Fprintf(&text, "%%%d = exchange(%%%d) {to=[%d]} : f64[%d,%d]\n", 2*i-1, 2*i-2, i%2, side, side)
			fmt.Fprintf(&text, "%%%d = add(%%%d, %%%d) : f64[%d,%d]\n", 2*i, 2*i-1, 2*i-1, side, side)
		}
		p, err := plan.Parse("plan ranks 2\n"+own.String()+"\n"+text.String(), enginetest.Table())
		if err != nil {
			say("%v", err)
			return 3
		}
		start := time.Now()
		if _, err := Run(context.Background(), c, pool, p, Options{}); err != nil {
			say("%v", err)
			return 1
		}
		if c.Rank() == 0 {
			say("%d bytes: %.2f us a hop", 8*side*side, time.Since(start).Seconds()/float64(hops)*1e6)
		}
	}
	return 0
}

// stage launches a scene by Launch, and calls meanwhile beside it.
func stage(t *testing.T, ctx context.Context, scene string, ranks int, meanwhile func(out *lines)) (out string, exit int) {
	t.Helper()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("no mpirun")
	}
	var stderr lines
	if meanwhile != nil {
		var beside sync.WaitGroup
		beside.Go(func() { meanwhile(&stderr) })
		defer beside.Wait()
	}
	exit, err := Launch(ctx, LaunchOptions{Ranks: ranks, Leaves: true, Args: []string{}, Env: []string{"FLOW_TEST_SCENE=" + scene}, Stderr: &stderr})
	var f *op.Failure
	if errors.As(err, &f) {
		fmt.Fprintf(&stderr, "launch: error[%s]: %s", f.Code, f.Msg)
	} else if err != nil {
		t.Fatal(err)
	}
	if left := ranksLeft(stderr.String()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	return stderr.String(), exit
}

var (
	pidLine  = regexp.MustCompile(`rank (\d+): pid (\d+)`)
	runsLine = regexp.MustCompile(`rank (\d+): runs`)
)

func ranksLeft(out string) (pids []int) {
	for _, m := range pidLine.FindAllStringSubmatch(out, -1) {
		pid, _ := strconv.Atoi(m[2])
		if _, alive := processStart(pid); alive {
			pids = append(pids, pid)
		}
	}
	return pids
}

// during calls f with the process of a rank once all have written such a line, and Launch has had
// time to see them.
func during(t *testing.T, out *lines, said *regexp.Regexp, ranks, rank int, f func(pid int)) {
	for until := time.Now().Add(guard); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if len(said.FindAllString(out.String(), -1)) < ranks {
			continue
		}
		calm.Sleep(300 * time.Millisecond)
		for _, x := range pidLine.FindAllStringSubmatch(out.String(), -1) {
			if x[1] == strconv.Itoa(rank) {
				pid, _ := strconv.Atoi(x[2])
				f(pid)
				return
			}
		}
	}
	t.Error("the ranks did not begin")
}

// lines collects output; safe for concurrent use.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestMPIRandomPlans(t *testing.T) {
	for _, ranks := range []int{1, 2, 4, 5} {
		if out, exit := stage(t, t.Context(), "random", ranks, nil); exit != 0 {
			t.Errorf("%d ranks: exit %d\n%s", ranks, exit, out)
		}
	}
}

func TestMPIFailureIsTheSameEverywhere(t *testing.T) {
	const ranks = 4
	p, bad := spoiled(1, 300, ranks, 60)
	out, exit := stage(t, t.Context(), "fail", ranks, nil)
	message := regexp.MustCompile(`error\[E603\]: check: check of .* failed, on rank (\d+)`)
	m := message.FindAllStringSubmatch(out, -1)
	if exit != 1 || len(m) != ranks || m[0][1] != strconv.Itoa(p.Rank(nodeID(bad))) || strings.Contains(out, "----") {
		t.Errorf("exit %d\n%s", exit, out)
	}
	for _, x := range m {
		if x[0] != m[0][0] {
			t.Errorf("%q and %q", x[0], m[0][0])
		}
	}
}

// The others end within five seconds of the machine's time: see package calm.
func TestMPIKilledRankIsNamed(t *testing.T) {
	for _, dead := range []int{2, 0} {
		var killed *calm.Clock
		out, exit := stage(t, t.Context(), "long", 3, func(out *lines) {
			during(t, out, runsLine, 3, dead, func(pid int) {
				killed = calm.Start()
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			})
		})
		if d := shown(killed); exit == 0 || d > 5*time.Second || !strings.Contains(out, fmt.Sprintf("error[E702]: rank %d died (process ", dead)) {
			t.Errorf("exit %d after %v\n%s", exit, d, out)
		}
	}
}

// shown is what a clock shows, which stops; an hour if it was never started.
func shown(c *calm.Clock) time.Duration {
	if c == nil {
		return time.Hour
	}
	return c.Stop()
}

// The others wait in MPI_Init, where they do not look for anybody.
func TestMPIRankKilledBeforeItJoins(t *testing.T) {
	var killed *calm.Clock
	out, exit := stage(t, t.Context(), "late", 3, func(out *lines) {
		during(t, out, pidLine, 3, 1, func(pid int) {
			killed = calm.Start()
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	})
	if d := shown(killed); exit != 1 || d > 5*time.Second || !strings.Contains(out, "error[E702]: rank 1 died (process ") {
		t.Errorf("exit %d after %v\n%s", exit, d, out)
	}
}

func TestMPIStoppedRankIsNotDead(t *testing.T) {
	for range 10 {
		stopped := false // and went on later; else the rank had ended before it could be stopped, on a busy machine
		out, exit := stage(t, t.Context(), "slow", 3, func(out *lines) {
			during(t, out, pidLine, 3, 1, func(pid int) {
				if stopped = syscall.Kill(pid, syscall.SIGSTOP) == nil; stopped {
					time.Sleep(3 * time.Second)
					stopped = syscall.Kill(pid, syscall.SIGCONT) == nil
				}
			})
		})
		if exit != 0 {
			t.Errorf("exit %d\n%s", exit, out)
		}
		if stopped || exit != 0 {
			return
		}
	}
	t.Error("no rank was ever stopped while it ran")
}

// A rank that is stopped is mentioned, whichever it is, and nobody dies of it; it is mentioned
// again when it goes on.
func TestMPISilentRankIsMentioned(t *testing.T) {
	for _, silent := range []int{2, 0} {
		ctx, cancel := context.WithCancel(t.Context())
		speaker := 0
		if silent == 0 {
			speaker = 1
		}
		out, _ := stage(t, ctx, "silent", 3, func(out *lines) {
			defer cancel()
			during(t, out, runsLine, 3, silent, func(pid int) {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Error(err)
				}
				awaitLine(t, out, fmt.Sprintf("rank %d: rank %d (process %d on ", speaker, silent, pid))
				if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
					t.Error(err)
				}
				awaitLine(t, out, fmt.Sprintf("rank %d: rank %d is heard again", speaker, silent))
			})
		})
		cancel()
		if strings.Contains(out, "died") || !strings.Contains(out, "silent for 0 s: it is stopped, or its machine is overloaded") {
			t.Errorf("rank %d was stopped\n%s", silent, out)
		}
	}
	if d := silentLooks * lookEvery; d != 10*time.Second {
		t.Errorf("a silent rank is mentioned after %v", d)
	}
}

// awaitLine waits until a text has come.
func awaitLine(t *testing.T, out *lines, text string) {
	for until := time.Now().Add(guard); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(out.String(), text) {
			return
		}
	}
	t.Errorf("%q did not come", text)
}

func TestMPIInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told *calm.Clock
	out, exit := stage(t, ctx, "long", 3, func(out *lines) {
		during(t, out, runsLine, 3, 0, func(int) { told = calm.Start(); cancel() })
	})
	// The contract is two seconds; a machine that does other work, too, is given twice that.
	if d := shown(told); exit != 128+int(syscall.SIGTERM) || d > 4*time.Second || strings.Count(out, "interrupted") != 3 {
		t.Errorf("exit %d after %v\n%s", exit, d, out)
	}
}

// A rank that polled would use all of a core. How little it uses is a figure of `make bench`
// (target: 2 %), not a test: on a machine that does other work, too, it varies.
func TestMPIIdleRankUsesNoCore(t *testing.T) {
	out, exit := stage(t, t.Context(), "idle", 2, nil)
	m := regexp.MustCompile(`rank (\d): cpu (0\.\d+)`).FindAllStringSubmatch(out, -1)
	if exit != 0 || len(m) != 2 {
		t.Fatalf("exit %d\n%s", exit, out)
	}
	for _, x := range m {
		share, err := strconv.ParseFloat(x[2], 64)
		if err != nil || share > 0.2 {
			t.Errorf("rank %s: share of a core %v, %v", x[1], share, err)
		}
	}
}

// Not a test of speed: it prints what a hop costs.
func TestMPILatency(t *testing.T) {
	out, exit := stage(t, t.Context(), "latency", 2, nil)
	if exit != 0 {
		t.Errorf("exit %d\n%s", exit, out)
	}
	t.Log("\n" + out)
}
