package local_test

// These tests run loops and branches on the engine and compare what they give with the reference
// evaluator.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"flow/ir"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/trace"
)

// controls are programs with loops and branches, each with the number of rounds that it runs.
var controls = []struct {
	name, text string
	rounds     int
}{
	{"counted, with a captured matrix and one carried unchanged", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = fill() {v=2.0} : f64[8,8]
%2 = iterate(%0, %1, %1) {carry=2, times=7} : (f64[8,8], f64[8,8])
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = arg() : f64[8,8]
    %3 = add(%0, %2) : f64[8,8]
    %4 = add(%3, %1) : f64[8,8]
    args %0 %1 %2
    yield %4 %1
  }
%3 = part(%2) {at=0} : f64[8,8]
%4 = part(%2) {at=1} : f64[8,8]
%5 = total(%3) : f64
%6 = add(%4, %1) : f64[8,8]
`, 7},
	{"no round: the results are the initial values, which others read", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = iterate(%0, %0) {carry=2, times=0} : (f64[8,8], f64[8,8])
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = add(%0, %1) : f64[8,8]
    args %0 %1
    yield %2 %0
  }
%2 = part(%1) {at=0} : f64[8,8]
%3 = part(%1) {at=1} : f64[8,8]
%4 = add(%0, %2) : f64[8,8]
%5 = add(%4, %3) : f64[8,8]
`, 0},
	{"swap, a captured value, and one value twice", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = fill() {v=2.0} : f64[8,8]
%2 = fill() {v=3.0} : f64[8,8]
%3 = iterate(%0, %1, %2, %0, %2) {carry=4, times=5} : (f64[8,8], f64[8,8], f64[8,8], f64[8,8])
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = arg() : f64[8,8]
    %3 = arg() : f64[8,8]
    %4 = arg() : f64[8,8]
    %5 = add(%0, %4) : f64[8,8]
    args %0 %1 %2 %3 %4
    yield %1 %5 %4 %5
  }
%4 = part(%3) {at=0} : f64[8,8]
%5 = part(%3) {at=1} : f64[8,8]
%6 = part(%3) {at=2} : f64[8,8]
%7 = part(%3) {at=3} : f64[8,8]
%8 = add(%4, %5) : f64[8,8]
%9 = add(%6, %7) : f64[8,8]
%10 = part(%3) {at=1} : f64[8,8]
%11 = mac(%10, %5, %4) : f64[8,8]
`, 5},
	{"until, with a condition on the carried matrix, results unread", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = one() : i64
%2 = iterate(%0, %1, %0) {carry=2} : (f64[8,8], i64)
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : i64
    %2 = arg() : f64[8,8]
    %3 = add(%0, %2) : f64[8,8]
    %4 = next(%1) : i64
    args %0 %1 %2
    yield %3 %4
  }
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : i64
    %2 = arg() : f64[8,8]
    %3 = first(%0) : f64
    %4 = atleast(%3) {v=9.0} : bool
    args %0 %1 %2
    yield %4
  }
%3 = part(%2) {at=1} : i64
%4 = total(%0) : f64
`, 8},
	{"a loop in a loop, whose body reads what both carry", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = iterate(%0, %0) {carry=1, times=4} : (f64[8,8])
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = add(%0, %1) : f64[8,8]
    %3 = iterate(%2, %0, %1) {carry=1, times=3} : (f64[8,8])
      region {
        %0 = arg() : f64[8,8]
        %1 = arg() : f64[8,8]
        %2 = arg() : f64[8,8]
        %3 = mac(%0, %1, %2) : f64[8,8]
        args %0 %1 %2
        yield %3
      }
    %4 = part(%3) {at=0} : f64[8,8]
    %5 = add(%4, %0) : f64[8,8]
    args %0 %1
    yield %5
  }
%2 = part(%1) {at=0} : f64[8,8]
%3 = total(%2) : f64
`, 16},
	{"branches, one in a loop", `
%0 = fill() {v=1.0} : f64[8,8]
%1 = fill() {v=2.0} : f64[8,8]
%2 = first(%0) : f64
%3 = atleast(%2) {v=2.0} : bool
%4 = atleast(%2) {v=1.0} : bool
%5 = select(%3, %0, %1) : (f64[8,8], f64)
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = first(%0) : f64
    args %0 %1
    yield %0 %2
  }
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : f64[8,8]
    %2 = add(%0, %1) : f64[8,8]
    %3 = first(%2) : f64
    args %0 %1
    yield %2 %3
  }
%6 = part(%5) {at=0} : f64[8,8]
%7 = part(%5) {at=1} : f64
%8 = iterate(%6, %4, %1) {carry=1, times=5} : (f64[8,8])
  region {
    %0 = arg() : f64[8,8]
    %1 = arg() : bool
    %2 = arg() : f64[8,8]
    %3 = first(%0) : f64
    %4 = atleast(%3) {v=6.0} : bool
    %5 = select(%4, %0, %2) : (f64[8,8])
      region {
        %0 = arg() : f64[8,8]
        %1 = arg() : f64[8,8]
        args %0 %1
        yield %1
      }
      region {
        %0 = arg() : f64[8,8]
        %1 = arg() : f64[8,8]
        %2 = add(%0, %1) : f64[8,8]
        args %0 %1
        yield %2
      }
    %6 = part(%5) {at=0} : f64[8,8]
    args %0 %1 %2
    yield %6
  }
%9 = part(%8) {at=0} : f64[8,8]
%10 = add(%9, %0) : f64[8,8]
`, 5},
}

func TestControls(t *testing.T) {
	for _, c := range controls {
		for _, workers := range []int{1, 2, 4} {
			pool := local.NewPool(workers)
			p := parse(t, c.text)
			if err := p.Verify(); err != nil {
				t.Fatal(err)
			}
			buffers := local.NewBufferPool(0)
			last := [2]int{}
			for _, stats := range []bool{false, true} {
				o, err := enginetest.NewOracle(p)
				if err != nil {
					t.Fatal(err)
				}
				opts := local.EngineOptions{Observe: o.Observe, Buffers: buffers, Stats: stats,
					OnProgress: func(p local.Progress) { last = [2]int{p.Done, p.Total} }}
				if stats {
					opts.Trace = trace.New(0, workers)
				}
				r, err := local.RunPlan(context.Background(), pool, p, opts)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if err := o.Err(); err != nil {
					t.Errorf("%s, %d workers: %v", c.name, workers, err)
				}
				if r.Rounds != c.rounds {
					t.Errorf("%s: %d rounds, want %d", c.name, r.Rounds, c.rounds)
				}
				if last[0] != last[1] {
					t.Errorf("%s: progress ended at %v", c.name, last)
				}
			}
			if live := buffers.Stats().Live; live != 0 {
				t.Errorf("%s, %d workers: %d bytes are still lent", c.name, workers, live)
			}
			pool.Close()
		}
	}
}

// loopOf is a loop that adds %1 to %0 until the first element is at least v, with what end says
// after that.
func loopOf(body string, v int, after string) string {
	return fmt.Sprintf(`
%%0 = fill() {v=1.0} : f64[64,64]
%%1 = iterate(%%0, %%0) {carry=1} : (f64[64,64])
  region {
    %%0 = arg() : f64[64,64]
    %%1 = arg() : f64[64,64]
    %%2 = add(%%0, %%1) : f64[64,64]
    %s
    args %%0 %%1
    yield %%2
  }
  region {
    %%0 = arg() : f64[64,64]
    %%1 = arg() : f64[64,64]
    %%2 = first(%%0) : f64
    %%3 = atleast(%%2) {v=%d.0} : bool
    args %%0 %%1
    yield %%3
  }
%%2 = part(%%1) {at=0} : f64[64,64]
%s`, body, v, after)
}

// The memory of a loop does not grow with its rounds.
func TestLoopsTakeMemoryOnce(t *testing.T) {
	pool := local.NewPool(2)
	defer pool.Close()
	var peak [2]int64
	for i, rounds := range []int{3, 3000} {
		p := parse(t, loopOf("", rounds, "%3 = total(%2) : f64\n"))
		r, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{})
		if err != nil || r.Rounds != rounds-1 {
			t.Fatal(err, r.Rounds)
		}
		peak[i] = r.BytesPeak
	}
	if peak[0] != peak[1] || peak[0] > 4*64*64*8 {
		t.Errorf("peaks of %v bytes", peak)
	}
}

// A failure in a loop names the node and the round; of several the first in program order is
// reported, and whatever comes after the loop in the program does not count.
func TestFailureInALoop(t *testing.T) {
	for _, c := range []struct {
		name, body, after string
		node              ir.ID
		within            []ir.Step
		want              string
	}{
		{"in the body", "%3 = first(%2) {until=5} : f64", "", 1, []ir.Step{{Region: 0, Node: 3, Round: 3}}, "first: 5 is too much, in round 4"},
		{"of two the first", "%3 = first(%2) {until=7} : f64\n%4 = first(%2) {until=5} : f64\n%5 = first(%2) {until=5} : f64", "",
			1, []ir.Step{{Region: 0, Node: 4, Round: 3}}, "first: 5 is too much, in round 4"},
		{"before what comes after it", "%3 = first(%2) {until=50} : f64", "%3 = first(%0) {until=1} : f64\n",
			1, []ir.Step{{Region: 0, Node: 3, Round: 48}}, "first: 50 is too much, in round 49"},
		{"after the loop", "", "%3 = first(%2) {until=9} : f64\n%4 = first(%2) {until=9} : f64", 3, nil, "first: 100 is too much"},
	} {
		for _, workers := range []int{1, 3} {
			pool := local.NewPool(workers)
			buffers := local.NewBufferPool(0)
			p := parse(t, loopOf(c.body, 100, c.after))
			_, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{Buffers: buffers, Grace: guard})
			var f *local.TaskFailure
			if !errors.As(err, &f) || f.Node != c.node || fmt.Sprint(f.Within) != fmt.Sprint(c.within) || f.Message(p) != c.want {
				t.Errorf("%s, %d workers: %v, %+v", c.name, workers, err, f)
			}
			if live := buffers.Stats().Live; live != 0 {
				t.Errorf("%s: %d bytes are still lent", c.name, live)
			}
			pool.Close()
		}
	}
}

// An endless loop ends when its context does: its tenth round prints, and the printer cancels.
func TestEndlessLoopIsCancelled(t *testing.T) {
	for _, workers := range []int{1, 2} {
		pool := local.NewPool(workers)
		buffers := local.NewBufferPool(0)
		ctx, cancel := context.WithTimeout(context.Background(), guard)
		env := &interrupter{after: 10, cancel: cancel}
		p := parse(t, strings.ReplaceAll(loopOf("%3 = first(%2) : f64\n%4 = print(%3) : effect", 1, ""), "v=1.0} : bool", "v=1e300} : bool"))
		r, err := local.RunPlan(ctx, pool, p, local.EngineOptions{Env: env, Buffers: buffers})
		if !errors.Is(err, context.Canceled) || r.Rounds < 9 || r.Rounds > 11 {
			t.Errorf("%d workers: %v after %d rounds, cancelled in the tenth", workers, err, r.Rounds)
		}
		if live := buffers.Stats().Live; live != 0 {
			t.Errorf("%d bytes are still lent", live)
		}
		cancel()
		pool.Close()
	}
}

// interrupter is a world in which somebody cancels the run when so many lines have been printed.
type interrupter struct {
	enginetest.Env
	after  int
	cancel func()
}

func (i *interrupter) Stdout() io.Writer { return i }

func (i *interrupter) Write(b []byte) (int, error) {
	if i.after--; i.after == 0 {
		i.cancel()
	}
	return len(b), nil
}

// A round of a loop costs little more than its tasks.
func BenchmarkRounds(b *testing.B) {
	const rounds = 100_000
	text := fmt.Sprintf("%%0 = one() : i64\n%%1 = iterate(%%0) {carry=1, times=%d} : (i64)\n  region {\n%%0 = arg() : i64\n%%1 = next(%%0) : i64\nargs %%0\nyield %%1\n}\n", rounds)
	p := parse(b, text)
	pool := local.NewPool(1)
	defer pool.Close()
	for b.Loop() {
		if _, err := local.RunPlan(context.Background(), pool, p, local.EngineOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rounds, "ns/round")
}
