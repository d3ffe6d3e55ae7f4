package local_test

// These tests play the other rank of a loop whose rows two ranks share.

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/local"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// The loop of these tests has helpRows rows of helpCols numbers.
const helpRows, helpCols = 80, 5

// helpRun runs rank 0 of two ranks that share the rows of a loop. node is the loop's operator with its
// operands and the beginning of its attributes. o.Remote plays the other rank; it may use *e, which
// helpRun sets to the engine before the start. helpRun sets o.HelpFrom and o.Grace.
func helpRun(t *testing.T, e **local.Engine, workers int, node string, o local.EngineOptions) (*local.Report, error) {
	t.Helper()
	pool := local.NewPool(workers)
	defer pool.Close()
	p := parse(t, fmt.Sprintf("%%0 = fill() {v=3.0} : f64[%d,%d]\n%%1 = %sranks=2, shared=%[1]d, help=1} : f64[%[1]d,%[2]d]\n", helpRows, helpCols, node))
	p.Ranks, p.Owner = 2, []int32{plan.Everywhere, plan.Everywhere}
	o.Remote.Sends = func(ir.ID) int { return 0 }
	o.Remote.Idle = func(time.Duration, bool) bool { return false }
	o.Remote.Failed = func(*local.TaskFailure) {}
	o.HelpFrom, o.Grace = 1, guard
	var err error
	if *e, err = local.NewEngine(p, o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	(*e).Start(ctx, pool)
	report, err := (*e).Wait()
	if err := (*e).Close(); err != nil {
		t.Error(err)
	}
	return report, err
}

// The other rank asks three times after every part of a chunk, ten times. It returns what it is given
// as rows of -1, or undone, in which case they are made here; or it is gone before it returns anything.
func TestHelpFromAnotherRank(t *testing.T) {
	const rows, cols = helpRows, helpCols
	recorder := trace.New(0, 2)
	for _, technique := range []string{"SS", "GSS", "FAC2", "StaticSteal", "AWF-C", "STATIC"} {
		for _, other := range []string{"makes its rows", "fails", "goes"} {
			var e *local.Engine
			var asked, given, requests atomic.Int32
			got, away := make([]float64, rows*cols), make([]int, rows*cols)
			answers := make(chan func(), 4*rows)
			remote := &local.Remote{
				Between: func(int64) {
					if asked.Load() < 10 && e.Helps() {
						asked.Add(1)
						for range 3 {
							if err := e.Asked(1, local.Ask{Rank: 1, Loop: 1, Execution: 1}); err != nil {
								t.Error(err)
							}
						}
					}
				},
				Ask: func(to int, a local.Ask) {
					if requests.Add(1); to != 1 || a != (local.Ask{Rank: 0, Loop: 1, Execution: 1}) {
						t.Errorf("rank 0 asks rank %d: %+v", to, a)
					}
					answers <- func() {
						if err := e.Given(1, a, local.Gift{}); err != nil {
							t.Error(err)
						}
					}
				},
				Give: func(a local.Ask, g local.Gift) {
					for _, x := range g.Lent {
						given.Add(1)
						r := x.Chunk
						if x.Home != 0 || r.Lo < 0 || r.Hi > rows/2*cols || r.Lo >= r.Hi {
							t.Errorf("%s gives the chunk %d..%d of rank %d", technique, r.Lo, r.Hi, x.Home)
							continue
						}
						for k := r.Lo; k < r.Hi; k++ { // helping.mu is held
							if away[k]++; away[k] == 2 {
								t.Errorf("%s gives iteration %d twice, the second time in %d..%d", technique, k, r.Lo, r.Hi)
								break
							}
						}
						made := value.New(types.F64, (r.Hi-r.Lo)/cols, cols)
						for i := range made.F64 {
							made.F64[i] = -1
						}
						answers <- func() {
							var err error
							switch other {
							case "makes its rows":
								err = e.Returned(1, a, r, made.Bytes(), 1e-6)
							case "fails":
								err = e.Returned(1, a, r, nil, 1e-6)
							case "goes":
								e.Gone(1)
							}
							if err != nil {
								t.Error(err)
							}
						}
					}
				},
				Return: func(int, local.Ask, local.Chunk, []byte, float64) { t.Error("rank 0 returns what it has not got") },
				Wait: func(time.Duration) {
					select {
					case f := <-answers:
						f()
					default:
						runtime.Gosched()
					}
				},
			}
			report, err := helpRun(t, &e, 2, "add(%0, %0) {", local.EngineOptions{
				Remote: remote, Stats: true, Trace: recorder, Schedule: schedule.Plan{Technique: lookup(t, technique)},
				Observe: func(id ir.ID, v value.Value) {
					if id == 1 {
						copy(got, v.(*value.Dense).F64)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			recorded, there := int64(0), int64(0)
			for _, l := range report.Loops {
				for _, c := range l.Chunks {
					if c.Asked < l.Start || c.Start < c.Asked || c.End < c.Start || c.End > l.End {
						t.Errorf("%s, the other rank %s: a chunk of %d to %d ns has the times %+v", technique, other, l.Start, l.End, c)
					}
					if recorded += c.Hi - c.Lo; c.Worker == trace.Elsewhere {
						there += c.Hi - c.Lo
					}
				}
			}
			elsewhere := 0
			for i, x := range got[:rows/2*cols] {
				switch {
				case x == -1:
					elsewhere++
				case x != 2*(3+float64(i)):
					t.Fatalf("%s, the other rank %s: element %d is %v", technique, other, i, x)
				}
			}
			if recorded != rows/2*cols || there != int64(elsewhere) {
				t.Errorf("%s, the other rank %s: %d iterations are recorded, %d of them elsewhere, want %d and %d", technique, other, recorded, there, rows/2*cols, elsewhere)
			}
			if technique == "STATIC" {
				if given.Load() > 0 {
					t.Errorf("STATIC gives %d chunks away", given.Load())
				}
				continue
			}
			if requests.Load() == 0 {
				t.Errorf("%s: rank 0 has not asked in the first execution", technique)
			}
			if given.Load() == 0 || (elsewhere > 0) != (other == "makes its rows") {
				t.Errorf("%s, the other rank %s: it has got %d chunks, and %d elements are its", technique, other, given.Load(), elsewhere)
			}
		}
	}
}

// Rows of an input travel with the iterations. Rank 0 gives rows of its input with what it gives. What
// it gets, rows of 7, it makes into rows of 14.
func TestHelpWithRows(t *testing.T) {
	const rows, cols = helpRows, helpCols
	mine, theirs := local.Ask{Loop: 1, Execution: 1}, local.Ask{Rank: 1, Loop: 1, Execution: 1}
	var e *local.Engine
	var todo []func() error
	given, made, gave := 0, 0, false
	number := func(at int, b []byte) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*at:]))
	}
	remote := &local.Remote{
		Between: func(int64) {
			if given == 0 && e.Helps() {
				if err := e.Asked(1, theirs); err != nil {
					t.Error(err)
				}
			}
		},
		Ask: func(int, local.Ask) {
			g := local.Gift{}
			if !gave {
				gave = true
				g.Lent = []local.Lent{{Home: 1, Chunk: local.Chunk{Lo: 60 * cols, Hi: 62 * cols}}}
				for range 2 * cols {
					g.Rows = binary.LittleEndian.AppendUint64(g.Rows, math.Float64bits(7))
				}
			}
			todo = append(todo, func() error { return e.Given(1, mine, g) })
		},
		Give: func(a local.Ask, g local.Gift) {
			at := 0
			for _, x := range g.Lent {
				for k := x.Lo; k < x.Hi; k++ {
					if got := number(at, g.Rows); got != 3+float64(k) {
						t.Errorf("element %d comes as %v", k, got)
					}
					at++
				}
				todo = append(todo, func() error { return e.Returned(1, a, x.Chunk, nil, 0) })
			}
			if given += at; 8*at != len(g.Rows) {
				t.Errorf("%d bytes of %d elements", len(g.Rows), at)
			}
		},
		Return: func(home int, _ local.Ask, c local.Chunk, rows []byte, _ float64) {
			for k := range c.Hi - c.Lo {
				if made++; home != 1 || number(k, rows) != 14 {
					t.Errorf("element %d of rank %d is %v", c.Lo+k, home, number(k, rows))
				}
			}
		},
		Wait: func(time.Duration) {
			if len(todo) > 0 {
				f := todo[0]
				todo = todo[1:]
				if err := f(); err != nil {
					t.Error(err)
				}
			}
		},
	}
	if _, err := helpRun(t, &e, 1, "add(%0, %0) {carry=[1], ", local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}}); err != nil {
		t.Error(err)
	}
	if given == 0 || made != 2*cols {
		t.Errorf("rank 0 of %d rows gave %d elements and made %d", rows, given, made)
	}
}
