package compiler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels"
	"flow/runtime/local"
	"flow/runtime/schedule"
)

// endless are loops without end in the body of a parfor, by how the body is run.
var endless = []struct{ name, text string }{
	{"in lanes", "iterate x = 1.0 * i until x < 0.0 { next x = x + 1 }; x"},
	{"in lanes, in another", "iterate y = 1.0 until y < 0.0 { iterate x = y * i until x < 0.0 { next x = x + 1 }; next y = x }; y"},
	{"in lanes, counted", "iterate x = 1.0 * i times 1000000000000 { next x = sqrt(x + 1) }; x"},
	{"on matrices", "iterate X = A + i until sum(X) < 0 { next X = X + 1 }; sum(X)"},
	{"on matrices, counted", "iterate X = A + i times 1000000000000 { next X = X + 1 }; sum(X)"},
	{"the same in every iteration", "iterate X = A until sum(X) < 0 { next X = X + 1 }; sum(X) * i"},
	{"in a branch", "if i >= 0 { iterate X = A + i until sum(X) < 0 { next X = X + 1 }; sum(X) } else { 0.0 }"},
}

// hangs is how long a run takes that nobody can stop: a thousand times what these take on a machine
// at rest.
const hangs = 2 * time.Minute

// runStopped runs a program whose loops end by nothing that is in them, and cancels it with stop. A
// run that hangs is a failure. The tasks before a failed one have longer than that, so a failure
// ends the run by itself, or not at all.
func runStopped(t *testing.T, text string, workers int, stop bool) error {
	t.Helper()
	c, err := compileTiny(tinyTable(t), text, 1, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pool := local.NewPool(workers)
	buffers := local.NewBufferPool(0)
	done := make(chan error, 1)
	if stop {
		defer time.AfterFunc(50*time.Millisecond, cancel).Stop() // in the loop, unless the machine is very busy: then before it
	}
	go func() {
		_, err := local.RunPlan(ctx, pool, c.Plan, local.EngineOptions{Env: &printer{}, Buffers: buffers, Grace: 5 * hangs})
		done <- err
	}()
	select {
	case err = <-done:
	case <-time.After(hangs):
		t.Fatalf("%d workers: it does not end\n%s", workers, text)
	}
	pool.Close()
	if live := buffers.Stats().Live; live != 0 {
		t.Errorf("%d bytes are still lent\n%s", live, text)
	}
	return err
}

// An endless loop in the body of a parfor ends when the run is cancelled.
func TestEndlessBodyIsCancelled(t *testing.T) {
	for _, c := range endless {
		for _, workers := range []int{1, 3} {
			text := "A = ones(8, 8)\nemit parfor i in 0..700 { " + c.text + " }\n"
			if err := runStopped(t, text, workers, true); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d workers: %v", c.name, workers, err)
			}
		}
	}
}

// It ends as well when a task before it fails, long before the time is over that is given to tasks
// before a failed one.
func TestEndlessBodyAfterAFailure(t *testing.T) {
	for _, c := range endless { // two iterations leave a worker to the others
		text := "A = ones(8, 8)\nB = rand(40, 40)\nassert sum(B @ B @ B) < 0.0, \"too much\"\nemit parfor i in 0..2 { " + c.text + " }\n"
		err := runStopped(t, text, 3, false)
		var f *op.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Msg, "too much") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An iteration that fails ends those after it, and is what the run reports.
func TestEndlessBodyAfterAFailedIteration(t *testing.T) {
	for _, body := range []string{
		"k = A[ifelse(i == 0, 99, 0), 0]; iterate x = 1.0 * k until x < 0.0 { next x = x + 1 }; x",
		"iterate X = A + i until i == 0 or sum(X) < 0 { next X = X + 1 }; sum(X) + A[ifelse(i == 0, 99, 0), 0]",
	} {
		text := "A = ones(8, 8)\nemit parfor i in 0..8 { " + body + " }\n"
		err := runStopped(t, text, 3, false)
		var f *op.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Msg, "i = 0") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestHelpWithAFailure: an iteration of rank 0 fails on rank 1, which helps. It runs again on rank 0,
// which reports it. Rank 1 then runs an iteration of its own that rank 0 had and has not run, and
// ends its part of the loop without a failure.
func TestHelpWithAFailure(t *testing.T) {
	single, err := schedule.Lookup("SS")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []int{27, 3} {
		text := fmt.Sprintf("x = seq(0, 60)\nemit parfor j in 0..60 { assert j != %d, \"bad\"; sum(sort((x * 7 %% 60)[x <= j])[j..j + 1, :]) + j }\n", bad)
		c, err := compileTiny(tinyTable(t), text, 2, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		var e *local.Engine
		mine, theirs := local.Ask{Rank: 1, Loop: 1, Execution: 1}, local.Ask{Rank: 0, Loop: 1, Execution: 1}
		var held []local.Lent // by rank 0
		made := []int64(nil)  // the rows of rank 1, as they are brought together
		asks, asked, back := 0, 0, 0
		check := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		remote := &local.Remote{
			Sends: func(ir.ID) int { return 0 }, Idle: func(time.Duration, bool) bool { return false }, Failed: func(*local.TaskFailure) {},
			Cleared: func(ir.ID, int) {},
			Between: func(int64) {
				if held == nil && e.Helps() {
					check(e.Asked(0, theirs))
				}
			},
			Ask:  func(int, local.Ask) { asked++ },
			Give: func(_ local.Ask, g local.Gift) { held = append(held, g.Lent...) },
			Wait: func(time.Duration) {
				if asked == 0 {
					return
				}
				gift := local.Gift{}
				if asks++; asks == 1 {
					gift.Lent = []local.Lent{{Home: 0, Chunk: local.Chunk{Lo: bad, Hi: bad + 1}}}
				}
				asked--
				check(e.Given(0, mine, gift))
			},
			Return: func(home int, _ local.Ask, c local.Chunk, made []byte, _ float64) {
				if back++; home != 0 || c != (local.Chunk{Lo: bad, Hi: bad + 1}) || made != nil {
					t.Errorf("%d bytes of iterations %v of rank %d come back", len(made), c, home)
				}
				for _, x := range held {
					go func() { check(e.Returned(0, theirs, x.Chunk, nil, 0)) }() // a lock is held
				}
			},
			Gather: func(_ int, d *value.Dense, finished func()) {
				if made == nil { // of x * 7 % 60
					for k := range 30 {
						d.I64[k] = int64(k * 7 % 60)
					}
				}
				made = slices.Clone(d.I64[30:])
				finished()
			},
		}
		if e, err = local.NewEngine(c.Plan, local.EngineOptions{Env: &printer{}, Rank: 1, Remote: remote, HelpFrom: 1, Grace: hangs,
			Schedule: schedule.Plan{Technique: single}}); err != nil {
			t.Fatal(err)
		}
		e.Start(context.Background(), poolOf(1, 1))
		if _, err := e.Wait(); err != nil {
			t.Errorf("bad iteration %d: rank 1 fails: %v", bad, err)
		}
		if len(held) == 0 || back != 1 {
			t.Errorf("rank 0 got %v, and %d iterations of it came back", held, back)
		}
		for k := range 30 { // 59, the largest of 0, 7, 14 .. modulo 60, and the index
			if want := int64(59 + 30 + k); made == nil || made[k] != want {
				t.Errorf("rank 1 has made %v; iteration %d is %v", made, 30+k, want)
				break
			}
		}
		check(e.Close())
	}
}

// subscriptsOfBodies read a place that a matrix of the body does not have. The launch of a loop proves
// places of operands alone.
var subscriptsOfBodies = []string{
	"c = parfor i in 0..40 { seq(0, 9)[i] }",
	"c = parfor i in 0..40 { rand(40, 1, seed = 1)[i + 2] }",
	"c = parfor i in 0..40, j in 0..2 { w = X[i..i + 3, :]; w[j + 2, 0] }",
	"c = parfor i in 0..40, j in 0..4 { w = X[i..i + 3, :] * 2; w[j, 0] }",
	"c = parfor i in 0..40, j in 0..3 { w = t(X[i, :]); sum(w @ t(w)) + w[j, 0] }",
	"c = parfor i in 0..40 { iterate a = X[i, :], k = 0 until k == 3 { next a = a * a[0, k]; next k = k + 1 }; sum(a) }",
}

// TestSubscriptsOfBodies: a place that a matrix of a body does not have fails, as a place of an operand
// does.
func TestSubscriptsOfBodies(t *testing.T) {
	kernels.LoopsFrom(0)
	for _, text := range subscriptsOfBodies {
		text = "X = materialize(rand(80, 2, seed = 1))\n" + text + "\nemit c\n"
		if o, err := (runs{{1, 1, nil, false, ""}}).differ(tinyTable(t), text); err != nil || !o.failed {
			t.Errorf("%v, %v\nin\n%s", err, o.err, text)
		}
	}
}
