package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file checks the trace of a run field by field against the document that defines the format
// ("Trace Event Format", Google, 2016): what a viewer needs and what would make it drop or misdraw
// an event.

// traceEvent is the fields of the document that a trace of ours has.
type traceEvent struct {
	Ph   string          `json:"ph"`
	Name *string         `json:"name"`
	Cat  *string         `json:"cat"`
	Ts   *float64        `json:"ts"`
	Dur  *float64        `json:"dur"`
	Pid  *int            `json:"pid"`
	Tid  *int            `json:"tid"`
	ID   *string         `json:"id"`
	Bp   string          `json:"bp"`
	Args json.RawMessage `json:"args"`
}

type span struct{ from, to float64 }

// tracedRounds is a program with a loop whose rounds ranks share.
const tracedRounds = `
x = rand(90000, 1, seed = 1)
iterate v = x, k = 0 times 5 {
  next v = v * 0.5 + sum(v) / 90000.0
  next k = k + 1
}
emit sum(v)
`

func TestTraceFormat(t *testing.T) {
	const text = tracedRounds + `A = rand_spd(200, seed = 7)
emit sum(cholesky(A, tile = 50))
`
	for _, ranks := range []int{1, 2} {
		p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		ss, err := schedule.Lookup("SS")
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(context.Background(), RunOptions{Threads: 2, Trace: true, Schedule: Scheduling{Plan: schedule.Plan{Technique: ss}}})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := r.WriteTrace(&file, p); err != nil {
			t.Fatal(err)
		}
		checkTrace(t, file.Bytes(), ranks)
	}
}

// A message of a trace is that of an exchange, of a gather, or of the loop that contains one: of each
// loop there are messages for its own rounds, and of a loop that one rank executes there is none.
func TestMessagesNameTheirNode(t *testing.T) {
	const text = tracedRounds + `
iterate w = rand(90000, 1, seed = 2), j = 0 times 8 {
  next w = w * 0.25 + sum(w) / 90000.0
  next j = j + 1
}
emit sum(w)
iterate a = 1.0 times 7 { next a = sqrt(a + 1.0) }
emit a
emit sum(sqrt(x) * 3.0)
`
	p, err := Compile(context.Background(), "x.flow", []byte(text), CompileOptions{Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), RunOptions{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	outside, inLoops := 0, map[int64]int{} // by the number of rounds
	for _, rec := range r.Recordings {
		for i := range rec.Tracks {
			for e := range rec.Tracks[i].Events() {
				if e.Kind != trace.Send && e.Kind != trace.Receive {
					continue
				}
				n := &p.made.Plan.Graph.Nodes[e.ID]
				switch rounds, counted := n.Attrs.Get("times"); {
				case counted:
					inLoops[rounds.I]++
				case !plan.IsGather(n) && n.Op.Role != op.Exchange:
					t.Fatalf("a message has the node %s", p.made.Plan.Graph.Line(ir.ID(e.ID)))
				default:
					outside++
				}
			}
		}
	}
	if len(inLoops) != 2 || inLoops[8] == 0 || inLoops[5]*8 != inLoops[8]*5 || outside == 0 {
		t.Errorf("messages of loops by their rounds: %v, of others: %d", inLoops, outside)
	}
}

func checkTrace(t *testing.T, file []byte, ranks int) {
	t.Helper()
	var doc struct {
		Events []json.RawMessage `json:"traceEvents"`
		Unit   string            `json:"displayTimeUnit"`
	}
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatalf("the trace is no JSON: %v", err)
	}
	if doc.Unit != "ns" && doc.Unit != "ms" {
		t.Errorf("displayTimeUnit is %q; the document knows ms and ns", doc.Unit)
	}
	if at := bytes.Index(file, []byte(`"traceEvents"`)); at != 1 {
		t.Errorf("traceEvents begins at byte %d: viewers read nothing behind a key they do not know", at)
	}
	seen, labels := map[string]int{}, 0
	named := map[[2]int]bool{}
	threads := map[[2]int][]span{}
	arrows := map[string]string{}
	for _, raw := range doc.Events {
		var e traceEvent
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if e.Name == nil || *e.Name == "" || e.Pid == nil || e.Tid == nil || *e.Pid < 0 || *e.Pid >= ranks || *e.Tid < 0 {
			t.Fatalf("%s: name, pid or tid is missing or wrong", raw)
		}
		at := [2]int{*e.Pid, *e.Tid}
		seen[e.Ph]++
		switch e.Ph {
		case "M":
			key := map[string]string{"process_name": "name", "thread_name": "name", "process_labels": "labels"}[*e.Name]
			var args map[string]string
			if err := json.Unmarshal(e.Args, &args); err != nil || key == "" || args[key] == "" {
				t.Errorf("%s: metadata without a name in its args", raw)
			}
			if *e.Name == "process_labels" {
				labels++
			}
			if *e.Name == "thread_name" {
				named[at] = true
			}
			continue
		case "X":
			if e.Dur == nil || !(*e.Dur >= 0) {
				t.Errorf("%s: a complete event has a duration that is not negative", raw)
			}
			var args map[string]any
			if err := json.Unmarshal(e.Args, &args); err != nil {
				t.Errorf("%s: args are an object: %v", raw, err)
			}
		case "s", "f":
			if e.ID == nil || e.Ph == "f" && e.Bp != "e" {
				t.Errorf("%s: a flow event has an id, its end the binding point e", raw)
				continue
			}
			arrows[*e.ID] += e.Ph
		default:
			t.Errorf("%s: no phase that the document has", raw)
		}
		if e.Cat == nil || *e.Cat == "" || e.Ts == nil || !(*e.Ts >= 0) || math.IsInf(*e.Ts, 0) {
			t.Errorf("%s: cat or ts is missing or wrong", raw)
			continue
		}
		if e.Ph == "X" {
			threads[at] = append(threads[at], span{*e.Ts, *e.Ts + *e.Dur})
		}
	}
	if seen["X"] == 0 || seen["M"] == 0 || ranks > 1 && seen["s"] == 0 {
		t.Errorf("events by phase: %v", seen)
	}
	if want := ranks * min(ranks-1, 1); labels != want {
		t.Errorf("%d ranks say how much of their communication was hidden, want %d", labels, want)
	}
	for id, ends := range arrows {
		if ends != "sf" && ends != "fs" {
			t.Errorf("the arrow %s has the ends %q", id, ends)
		}
	}
	for at, list := range threads {
		if !named[at] {
			t.Errorf("thread %v has no name", at)
		}
		nests(t, at, list)
	}
}

// nests demands that the events of a thread lie inside of or beside each other, as a viewer draws
// them. Times are of microseconds with three digits.
func nests(t *testing.T, at [2]int, list []span) {
	t.Helper()
	slices.SortFunc(list, func(a, b span) int {
		switch {
		case a.from != b.from:
			return int(math.Copysign(1, a.from-b.from))
		case a.to != b.to:
			return int(math.Copysign(1, b.to-a.to))
		}
		return 0
	})
	var open []span
	for _, s := range list {
		for len(open) > 0 && open[len(open)-1].to <= s.from+1e-6 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && s.to > open[len(open)-1].to+2e-3 {
			t.Errorf("thread %v: %v begins inside of %v and ends behind it", at, s, open[len(open)-1])
			return
		}
		open = append(open, s)
	}
}
