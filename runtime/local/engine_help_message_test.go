package local_test

// This file sends an engine messages about help that name what cannot be.

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"flow/runtime/local"
	"flow/runtime/schedule"
)

// Each message that cannot be from a rank of the run is an error that says what is wrong with it, and
// the run goes on to its end. What comes late is no error.
func TestHelpRefusesMessages(t *testing.T) {
	mine, theirs := local.Ask{Loop: 1, Execution: 1}, local.Ask{Rank: 1, Loop: 1, Execution: 1}
	late := local.Ask{Rank: 1, Loop: 1, Execution: 7}
	gift := func(home, lo, hi int) local.Gift {
		return local.Gift{Lent: []local.Lent{{Home: home, Chunk: local.Chunk{Lo: lo, Hi: hi}}}}
	}
	chunk := func(lo, hi int) local.Chunk { return local.Chunk{Lo: lo, Hi: hi} }
	var e *local.Engine
	asked, checked := false, false
	for _, c := range []struct {
		name, want string
		unit       int // rows that are shared together
		send       func() error
	}{
		{"asks as another", "rank 1 asks as rank 0", 1, func() error { return e.Asked(1, mine) }},
		{"unknown home", "rank 1 gives rows of rank 2, and there are 2 ranks", 1, func() error { return e.Given(1, mine, gift(2, 200, 205)) }},
		{"not asked", "rank 1 answers a request that it has not got", 1, func() error { _ = e.Given(1, mine, local.Gift{}); return e.Given(1, mine, local.Gift{}) }},
		{"rows of another", "rank 1 gives iterations 0 to 5 of loop 1, which are not rows of rank 1", 1, func() error { return e.Given(1, mine, gift(1, 0, 5)) }},
		{"beyond the end", "rank 1 gives iterations 390 to 405 of loop 1, which are not rows of rank 1", 1, func() error { return e.Given(1, mine, gift(1, 390, 405)) }},
		{"parts of rows", "rank 1 gives iterations 201 to 205 of loop 1", 1, func() error { return e.Given(1, mine, gift(1, 201, 205)) }},
		{"backwards", "rank 1 gives iterations 300 to 250 of loop 1", 1, func() error { return e.Given(1, mine, gift(1, 300, 250)) }},
		{"hint of no rank", "rank 1 names a rank 9, and there are 2", 1, func() error {
			return e.Given(1, mine, local.Gift{Hints: [2]schedule.Hint{{}, {Rank: 9, Left: 1}}})
		}},
		{"rows of inputs", "rank 1 gives 8 bytes of inputs with iterations of loop 1 that need 0", 1, func() error {
			g := gift(1, 200, 205)
			g.Rows = make([]byte, 8)
			return e.Given(1, mine, g)
		}},
		{"negative", "rank 1 returns iterations -5 to 0 of loop 1", 1, func() error { return e.Returned(1, theirs, chunk(-5, 0), nil, 0) }},
		{"rows that it keeps", "rank 1 returns iterations 200 to 205 of loop 1, which are not rows of rank 0: it has 0 to 200, 5 a row", 1, func() error { return e.Returned(1, theirs, chunk(200, 205), nil, 0) }},
		{"wrong length", "rank 1 returns 7 bytes for iterations 0 to 5 of loop 1, which have 40", 1, func() error { return e.Returned(1, theirs, chunk(0, 5), make([]byte, 7), 0) }},
		{"not away", "", 1, func() error { return e.Returned(1, theirs, chunk(0, 5), make([]byte, 40), 0) }},
		{"rows in units", "", 16, func() error { return e.Given(1, mine, gift(1, 160, 165)) }},
		{"rows in units of another", "rank 1 returns iterations 160 to 165 of loop 1, which are not rows of rank 0: it has 0 to 160", 16, func() error { return e.Returned(1, theirs, chunk(160, 165), nil, 0) }},
		{"tells for another", "rank 1 tells 1 times, 1 ranks behind", 1, func() error { return e.Told(1, mine, []float64{1}) }},
		{"tells too much", "rank 1 tells 2 times, 1 ranks behind", 1, func() error { return e.Told(1, theirs, []float64{1, 2}) }},
		{"tells no time", "rank 1 tells a time of NaN s", 1, func() error { return e.Told(1, theirs, []float64{math.NaN()}) }},
		{"moves rows of another", "rank 1 gives iterations 0 to 5 of loop 1, which are not rows of rank 1", 1, func() error {
			g := gift(1, 0, 5)
			g.Moved = true
			return e.Given(1, mine, g)
		}},
		{"moves early", "", 1, func() error {
			g := gift(1, 200, 205)
			g.Moved = true
			return e.Given(1, local.Ask{Loop: 1, Execution: 7}, g)
		}},
		{"late", "", 1, func() error { return e.Returned(1, late, chunk(-1, 1<<40), nil, 0) }},
		{"unknown loop", "", 1, func() error { return e.Returned(1, local.Ask{Rank: 1, Loop: -3}, chunk(0, 5), nil, 0) }},
	} {
		asked, checked = false, false
		check := func() {
			checked = true
			switch err := c.send(); {
			case err == nil && c.want != "":
				t.Errorf("%s: no error, want %q", c.name, c.want)
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
		remote := &local.Remote{
			Between: func(int64) {},
			Ask:     func(int, local.Ask) { asked = true },
			Give:    func(local.Ask, local.Gift) {},
			Return:  func(int, local.Ask, local.Chunk, []byte, float64) {},
			Wait: func(time.Duration) {
				if asked && !checked { // the request is answered by nothing but this
					check()
					e.Gone(1)
				}
			},
		}
		if _, err := helpRun(t, &e, 1, fmt.Sprintf("add(%%0, %%0) {units=%d, ", c.unit), local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !checked {
			t.Errorf("%s: rank 0 has not asked", c.name)
		}
	}
}

// A rank that gets rows of its own back before it has run its last ones gives them on when the other
// asks again: they are away once, and the loop ends when they have returned.
func TestHelpGivesOwnRowsOn(t *testing.T) {
	mine, theirs := local.Ask{Loop: 1, Execution: 1}, local.Ask{Rank: 1, Loop: 1, Execution: 1}
	var e *local.Engine
	var held []local.Lent // by the other rank
	var todo []func() error
	gifts, back := 0, false
	next := func() {
		if len(todo) > 0 {
			f := todo[0]
			todo = todo[1:]
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	}
	remote := &local.Remote{
		Between: func(int64) {
			if next(); e.Helps() && (gifts == 0 || back && gifts == 1) {
				if err := e.Asked(1, theirs); err != nil {
					t.Error(err)
				}
			}
		},
		Ask: func(int, local.Ask) {
			g := local.Gift{Lent: held}
			held = nil
			todo = append([]func() error{func() error { back = back || len(g.Lent) > 0; return e.Given(1, mine, g) }}, todo...)
		},
		Give: func(a local.Ask, g local.Gift) {
			gifts++
			if held == nil && !back {
				held = g.Lent
				return
			}
			for _, x := range g.Lent {
				todo = append(todo, func() error { return e.Returned(1, a, x.Chunk, nil, 0) })
			}
		},
		Return: func(int, local.Ask, local.Chunk, []byte, float64) { t.Error("rank 0 returns what is its own") },
		Wait:   func(time.Duration) { next() },
	}
	if _, err := helpRun(t, &e, 1, "add(%0, %0) {", local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}}); err != nil {
		t.Error(err)
	}
	if !back || gifts < 2 {
		t.Errorf("the other rank gave rows back: %v; it got %d gifts", back, gifts)
	}
}

// An iteration fails while a request is under way whose answer brings rows of this rank and of the
// other: no worker runs them any more. Those of the other rank go back, and the failure is reported.
// The same where the other rank is known to have gone before its answer is read.
func TestHelpAfterAFailure(t *testing.T) {
	for _, gone := range []bool{false, true} {
		helpAfterAFailure(t, gone)
	}
}

func helpAfterAFailure(t *testing.T, gone bool) {
	mine, theirs := local.Ask{Loop: 1, Execution: 1}, local.Ask{Rank: 1, Loop: 1, Execution: 1}
	foreign := local.Lent{Home: 1, Chunk: local.Chunk{Lo: helpRows / 2 * helpCols, Hi: (helpRows/2 + 1) * helpCols}}
	var e *local.Engine
	var held []local.Lent // by the other rank
	requests, back := 0, []local.Chunk(nil)
	remote := &local.Remote{
		Between: func(int64) {
			if held == nil && e.Helps() {
				if err := e.Asked(1, theirs); err != nil {
					t.Error(err)
				}
			}
		},
		Ask:    func(int, local.Ask) { requests++ },
		Give:   func(_ local.Ask, g local.Gift) { held = g.Lent },
		Return: func(_ int, _ local.Ask, c local.Chunk, _ []byte, _ float64) { back = append(back, c) },
		Wait: func(time.Duration) {
			if requests > 0 {
				requests--
				if gone {
					e.Gone(1)
				}
				if err := e.Given(1, mine, local.Gift{Lent: append(held, foreign)}); err != nil {
					t.Error(err)
				}
			}
		},
	}
	_, err := helpRun(t, &e, 1, fmt.Sprintf("picky(%%0) {worse=[%d], ", helpRows/2*helpCols-1), local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}})
	if err == nil || !strings.Contains(err.Error(), "element 199 is worse") {
		t.Errorf("%v, want the failure of the last row", err)
	}
	if len(held) == 0 || len(back) != 1 || back[0] != foreign.Chunk {
		t.Errorf("gone: %v: rank 1 held %v and got %v back, want %v", gone, held, back, foreign.Chunk)
	}
}

// The other rank may have rows later, and is asked again until it gives some. Once it has begun another
// execution it has none of this one, whatever it said before: then the loop ends.
func TestHelpLater(t *testing.T) {
	mine := local.Ask{Loop: 1, Execution: 1}
	theirs := local.Lent{Home: 1, Chunk: local.Chunk{Lo: helpRows / 2 * helpCols, Hi: helpRows * helpCols}}
	for _, passes := range []bool{false, true} {
		var e *local.Engine
		requests, answers, made := 0, 0, 0
		remote := &local.Remote{
			Between: func(int64) {},
			Ask:     func(int, local.Ask) { requests++ },
			Give:    func(local.Ask, local.Gift) {},
			Return: func(_ int, _ local.Ask, c local.Chunk, rows []byte, _ float64) {
				if rows != nil {
					made += c.Hi - c.Lo
				}
			},
			Wait: func(time.Duration) {
				if requests == answers {
					return
				}
				g := local.Gift{Later: answers < 3}
				if answers++; answers == 4 && !passes {
					g.Lent = []local.Lent{theirs}
				}
				if err := e.Given(1, mine, g); err != nil {
					t.Error(err)
				}
				if answers == 3 && passes {
					if err := e.Asked(1, local.Ask{Rank: 1, Loop: 1, Execution: 2}); err != nil {
						t.Error(err)
					}
				}
			},
		}
		if _, err := helpRun(t, &e, 1, "add(%0, %0) {", local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}}); err != nil {
			t.Errorf("passes %v: %v", passes, err)
		}
		if want := (theirs.Hi - theirs.Lo); passes && (requests != 3 || made != 0) || !passes && (requests < 4 || made != want) {
			t.Errorf("passes %v: %d requests, %d iterations made of %d", passes, requests, made, want)
		}
	}
}

// A rank that is asked for an execution that it has not begun gives some later while it works, and none
// while it waits itself: two ranks that wait for each other would otherwise never end.
func TestHelpBeforeTheExecution(t *testing.T) {
	for _, waits := range []bool{false, true} {
		var e *local.Engine
		var got []local.Gift
		requests, asked := 0, false
		ask := func() {
			if !asked && e.Helps() {
				asked = true
				if err := e.Asked(1, local.Ask{Rank: 1, Loop: 1, Execution: 2}); err != nil {
					t.Error(err)
				}
			}
		}
		remote := &local.Remote{
			Between: func(int64) {
				if !waits {
					ask()
				}
			},
			Ask:    func(int, local.Ask) { requests++ },
			Give:   func(_ local.Ask, g local.Gift) { got = append(got, g) },
			Return: func(int, local.Ask, local.Chunk, []byte, float64) { t.Error("rank 0 returns what it has not got") },
			Wait: func(time.Duration) {
				ask()
				for ; requests > 0; requests-- {
					if err := e.Given(1, local.Ask{Loop: 1, Execution: 1}, local.Gift{}); err != nil {
						t.Error(err)
					}
				}
			},
		}
		if _, err := helpRun(t, &e, 1, "add(%0, %0) {", local.EngineOptions{Remote: remote, Schedule: schedule.Plan{Technique: lookup(t, "SS")}}); err != nil {
			t.Error(err)
		}
		if len(got) != 1 || got[0].Later == waits || got[0].Begun != 1 || len(got[0].Lent) > 0 {
			t.Errorf("waits %v: the answers are %+v", waits, got)
		}
	}
}
