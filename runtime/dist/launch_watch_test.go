package dist

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"flow/ir/op"
	"flow/runtime/dist/calm"
)

// Jobs that a launcher would never end, and one that it would. The launchers are shell scripts, and what they start stands for ranks. The
// most that a job may take it may take of the machine's time: see package calm.
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

// The others are stopped and then killed within the five seconds of the contract. The clock is the test's, so no machine is too busy for it.
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
