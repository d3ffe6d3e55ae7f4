package dist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"flow/ir/op"
	"flow/runtime/dist/calm"
)

// Jobs that a launcher would never end, and one that it would. The launchers are shell scripts, and
// what they start stands for ranks. The most that a job may take it may take of the machine's time:
// see package calm.
func TestLaunchEndsWhatHangs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are watched on Linux")
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	for _, c := range []struct {
		name, script string
		exit         int
		err          string
		most         time.Duration
	}{
		{"the launcher stays without ranks", "sleep 1; mkfifo " + fifo + "; read x < " + fifo, 1, "a rank died", 5 * time.Second},
		{"a rank stays without another", "sleep 600 & sleep 1 & wait; wait", 1, "a rank died", othersNotice + othersStay + 3*time.Second},
		{"a rank was never started", "sleep 600 & wait", 1, "a rank died at its start", othersNotice + othersStay + 3*time.Second},
		{"it does not listen either", "sh -c 'trap : TERM; while :; do sleep 1; done' & sleep 1 & wait; wait; wait", 1, "a rank died", othersNotice + othersStay + 4*time.Second},
		{"ranks leave codes", "for i in 1 2; do sh -c 'sleep 0.5; printf 3 > $" + statusVariable + "/$$'; done; exit 7", 3, "", 4 * time.Second},
		{"the launcher stays when all have succeeded", "for i in 1 2; do sh -c 'sleep 1; printf 0 > $" + statusVariable + "/$$' & done; wait; mkfifo " + fifo + "2; read x < " + fifo + "2",
			0, "", launcherStaysAfterSuccess + 5*time.Second},
	} {
		if testing.Short() && c.most > 5*time.Second {
			continue
		}
		clock := calm.Start()
		exit, err := Launch(context.Background(), LaunchOptions{Ranks: 2, Leaves: true, Mpirun: fakeLauncher(t, c.script), Stderr: t.Output()})
		var f *op.Failure
		if exit != c.exit || errors.As(err, &f) != (c.err != "") || f != nil && (f.Code != "E702" || !strings.Contains(f.Msg, c.err)) {
			t.Errorf("%s: exit code %d, %v", c.name, exit, err)
		}
		if d := clock.Stop(); d > c.most {
			t.Errorf("%s: ended after %v", c.name, d)
		}
	}
}

// A launcher that still passes on what dead ranks have said is not ended, however slow the reader.
func TestLaunchWaitsForOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	var got strings.Builder
	_, err := Launch(context.Background(), LaunchOptions{Ranks: 1, Leaves: true, Mpirun: fakeLauncher(t, "sleep 1; for i in $(seq 20000); do echo abcdefg; done"),
		Stdout: writerFunc(func(b []byte) (int, error) {
			if got.Len() == 0 {
				time.Sleep(5 * launcherStays)
			}
			return got.Write(b)
		})})
	var f *op.Failure
	if !errors.As(err, &f) || got.Len() != 160000 {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}

// The clock is the test's.
func TestWatchEndsALauncherThatHasNoRanks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are watched on Linux")
	}
	launcher := exec.Command("sleep", "60")
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = launcher.Process.Kill()
		_ = launcher.Wait() // its exit code tells of the kill
	}()
	for !asleep(launcher.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	w := newWatch(launcher.Process.Pid, 2, t.TempDir())
	start := time.Now()
	for _, c := range []struct {
		after  time.Duration
		silent bool
		want   advice
	}{
		{0, true, carryOn},
		{launcherStaysFromStart / 2, false, carryOn}, // it has said something: the time begins anew
		{launcherStaysFromStart + time.Second, true, carryOn},
		{launcherStaysFromStart * 2, true, carryOn},
		{launcherStaysFromStart*2 + 2*time.Second, true, endLauncher},
		{launcherStaysFromStart * 3, true, carryOn}, // once is enough
	} {
		if got := w.look(start.Add(c.after), false, c.silent); got != c.want {
			t.Errorf("after %v: %v, want %v", c.after, got, c.want)
		}
	}
	if lost := w.atEnd(); lost == nil || lost.rank != -1 {
		t.Errorf("lost: %v", lost)
	}
}

// The others are stopped and then killed within the five seconds of the contract. The clock is the
// test's, so no machine is too busy for it.
func TestWatchStopsTheOthersInTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are watched on Linux")
	}
	if most := lookAtRanks + othersNotice + lookAtRanks + othersStay; most > 5*time.Second {
		t.Errorf("the others may take %v to end", most)
	}
	launcher := exec.Command("sh", "-c", "sleep 600 & sleep 600 & wait")
	launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-launcher.Process.Pid, syscall.SIGKILL)
		_ = launcher.Wait() // its exit code tells of the kill
	}()
	until := time.Now().Add(guard)
	var ranks []int
	for ; len(ranks) < 2 && time.Now().Before(until); time.Sleep(time.Millisecond) {
		ranks = childrenOf(launcher.Process.Pid)
	}
	w := newWatch(launcher.Process.Pid, 2, t.TempDir())
	start := time.Now()
	if got := w.look(start, false, true); got != carryOn || len(w.seen) != 2 {
		t.Fatalf("%v, %d ranks seen", got, len(w.seen))
	}
	if err := syscall.Kill(ranks[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for alive := true; alive && time.Now().Before(until); time.Sleep(time.Millisecond) {
		_, alive = processStart(ranks[0])
	}
	for _, c := range []struct {
		after time.Duration
		want  advice
	}{{0, carryOn}, {othersNotice, carryOn}, {othersNotice + 1, stopTheOthers}, {othersNotice + othersStay, carryOn}} {
		if got := w.look(start.Add(c.after), false, true); got != c.want {
			t.Errorf("%v after the death: %v, want %v", c.after, got, c.want)
		}
	}
	if w.lost == nil || w.lost.pid != ranks[0] {
		t.Errorf("lost: %+v", w.lost)
	}
}

// A look that comes late is none of the ranks' fault: a clock for looks shows of the time between
// two no more than twice the period.
func TestLateLooksCountOnce(t *testing.T) {
	start := time.Now()
	var c patientClock
	want := start
	for _, step := range []struct{ after, counts time.Duration }{
		{0, 0}, {searchRanks, searchRanks}, {time.Hour, 2 * searchRanks}, {2 * searchRanks, 2 * searchRanks}, {time.Millisecond, time.Millisecond},
	} {
		start, want = start.Add(step.after), want.Add(step.counts)
		if got := c.at(start, searchRanks); got != want {
			t.Errorf("%v later it shows %v more, want %v", step.after, got.Sub(want)+step.counts, step.counts)
		}
	}
}

// A launcher that works may still start a rank, however long it takes; one that sleeps does not.
func TestWatchWaitsForALauncherThatWorks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are watched on Linux")
	}
	launcher := exec.Command("sh", "-c", "sleep 600 & read go; while :; do :; done")
	launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := launcher.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-launcher.Process.Pid, syscall.SIGKILL)
		_ = launcher.Wait() // its exit code tells of the kill
	}()
	await := func(what func() bool) {
		for until := time.Now().Add(guard); !what() && time.Now().Before(until); time.Sleep(time.Millisecond) {
		}
	}
	await(func() bool { return len(childrenOf(launcher.Process.Pid)) == 1 && asleep(launcher.Process.Pid) })
	start := time.Now()
	sleeps := newWatch(launcher.Process.Pid, 2, t.TempDir())
	for _, after := range []time.Duration{0, time.Minute} {
		sleeps.look(start.Add(after), false, true)
	}
	if sleeps.lost == nil {
		t.Error("a launcher that sleeps is waited for")
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	await(func() bool { return !asleep(launcher.Process.Pid) })
	works := newWatch(launcher.Process.Pid, 2, t.TempDir())
	for _, after := range []time.Duration{0, time.Minute, time.Hour} {
		works.look(start.Add(after), false, true)
	}
	if works.lost != nil {
		t.Errorf("a rank is lost that the launcher may be about to start: %+v", works.lost)
	}
}

// Ranks on other machines cannot be watched, and nothing changes for them.
func TestLaunchOverMachinesIsNotWatched(t *testing.T) {
	t.Setenv("PBS_NODEFILE", "/dev/null")
	exit, err := Launch(context.Background(), LaunchOptions{Ranks: 2, Leaves: true, Stderr: t.Output(),
		Mpirun: fakeLauncher(t, "[ -z \"$"+statusVariable+"\" ] && sleep 1 && sleep 1")})
	if exit != 0 || err != nil {
		t.Errorf("exit code %d, %v", exit, err)
	}
}

func TestWatchNamesTheRankThatNeverCame(t *testing.T) {
	for _, c := range []struct{ seen, ranks, want int }{{0b101, 3, 1}, {0b011, 3, 2}, {0b110, 3, 0}, {0b001, 3, -1}, {0b001, 2, 1}} {
		w := newWatch(0, c.ranks, "")
		for rank := range c.ranks {
			if c.seen>>rank&1 == 1 {
				w.seen[rank+100] = watched{rank: rank}
			}
		}
		if got := w.missing(); got != c.want {
			t.Errorf("of %b in %d: %d, want %d", c.seen, c.ranks, got, c.want)
		}
	}
}

// A launcher that is told to stop tells its ranks, and kills them soon after. No rank is to blame,
// be it that some have had no time to note what they were told.
func TestLauncherThatIsToldToStopBlamesNoRank(t *testing.T) {
	script := "sleep 600 & a=$!; sleep 600 & b=$!; printf 143 > $FLOWRUN_STATUS_DIR/$a; sleep 1; kill -KILL $a $b; exit 1"
	exit, err := Launch(context.Background(), LaunchOptions{Ranks: 2, Leaves: true, Mpirun: fakeLauncher(t, script)})
	if exit != 128+int(syscall.SIGTERM) || err != nil {
		t.Errorf("exit code %d, %v", exit, err)
	}
}

// A rank that died before the others were told to stop is to blame: Open MPI ends a job when a rank
// fails in MPI_Init over one that has died. It says so then; a launcher that says nothing was told to
// stop, and its ranks had no processor in the second that it left them.
func TestWhoDiesFirstIsToBlame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are watched on Linux")
	}
	for _, c := range []struct{ deadFirst, said bool }{{true, true}, {false, true}, {true, false}} {
		launcher := exec.Command("sh", "-c", "sleep 600 & sleep 600 & wait")
		launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := launcher.Start(); err != nil {
			t.Fatal(err)
		}
		until := time.Now().Add(guard)
		var ranks []int
		for ; len(ranks) < 2 && time.Now().Before(until); time.Sleep(time.Millisecond) {
			ranks = childrenOf(launcher.Process.Pid)
		}
		j := &job{o: LaunchOptions{Ranks: 2, Leaves: true}, status: t.TempDir(), out: &outlet{}, filter: &noiseFilter{to: t.Output()}}
		if c.said {
			dashes := strings.Repeat("-", 70) + "\n"
			fmt.Fprintf(j.filter, "%smpirun noticed that process rank 0 exited on signal 9\n%s", dashes, dashes)
		}
		j.watch = newWatch(launcher.Process.Pid, 2, j.status)
		look := func() { j.watch.look(time.Now(), false, true) }
		stop := func() {
			if err := os.WriteFile(filepath.Join(j.status, strconv.Itoa(ranks[1])), []byte("143"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		look()
		if !c.deadFirst {
			stop()
			look()
		}
		if err := syscall.Kill(ranks[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for alive := true; alive && time.Now().Before(until); time.Sleep(time.Millisecond) {
			_, alive = processStart(ranks[0])
		}
		if c.deadFirst {
			stop() // before the next look
		}
		look()
		exit, err := j.outcome(nil)
		var f *op.Failure
		if blame := c.deadFirst && c.said; errors.As(err, &f) != blame || exit != map[bool]int{true: 1, false: 143}[blame] {
			t.Errorf("%+v: exit code %d, %v", c, exit, err)
		}
		_ = syscall.Kill(-launcher.Process.Pid, syscall.SIGKILL)
		_ = launcher.Wait() // its exit code tells of the kill
	}
}

func TestLeavingIsNotTheLastWord(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(statusVariable, dir)
	Leaving(143)
	if got := collect(dir, 1); got != 143 {
		t.Errorf("collected %d, want 143", got)
	}
	Leave(0)
	Leaving(143)
	if got := collect(dir, 1); got != 0 {
		t.Errorf("collected %d, want what was left at the end", got)
	}
}

// The ranks of a launcher that is killed may go before it does. A rank whose death the others have
// been told of, or that the kernel may have killed, was lost before.
func TestLauncherIsKilledWithItsRanks(t *testing.T) {
	for _, c := range []struct {
		signal string
		watch  watch
		named  bool
	}{
		{"KILL", watch{}, true},
		{"SEGV", watch{}, true},
		{"KILL", watch{lost: &lostRank{}}, true},
		{"SEGV", watch{lost: &lostRank{}}, false},
		{"KILL", watch{lost: &lostRank{killed: "for want of memory"}}, false},
		{"KILL", watch{lost: &lostRank{}, told: true}, false},
		{"KILL", watch{ended: true}, false},
	} {
		launcher := exec.Command("sh", "-c", "kill -"+c.signal+" $$")
		err := (&job{cmd: launcher, watch: &c.watch}).lostLauncher(launcher.Run())
		var f *op.Failure
		if errors.As(err, &f) != c.named || c.named && f.Code != "E707" {
			t.Errorf("%s, %+v: %v", c.signal, c.watch, err)
		}
	}
}

// A process that cannot be looked at, since no file can be opened, is not dead.
func TestALookThatFailsIsNoDeath(t *testing.T) {
	me := thisProcess()
	w := &watch{seen: map[int]watched{me.Pid: {start: me.Start}}}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	gone, alive := me.gone(), w.count(time.Now())
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if gone || alive != 1 || w.lost != nil {
		t.Errorf("this process is gone: %v, %d run, lost: %v", gone, alive, w.lost)
	}
}
