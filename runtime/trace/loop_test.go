package trace

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// oneLoop is a loop of 1000 iterations in leaves of 64 on two workers, with the events of both.
func oneLoop() *Recorder {
	r := New(0, 2)
	name := r.Name("map")
	r.Worker(0).Add(Event{Kind: Task, ID: 5, Name: name, Start: 100, End: 1000})
	r.Worker(1).Add(Event{Kind: Share, ID: 5, Name: name, Start: 150, End: 800})
	r.AddLoop(LoopRecord{Node: 5, Round: 2, Op: "map", Where: "a.flow:3:7", N: 1000, Leaf: 64, MinChunk: 1, Technique: "GSS",
		Layout: "PERCPU", Victim: "SEQ", Workers: 2, Start: 100, End: 1000, Chosen: true, Chunks: []Chunk{
			{Lo: 0, Hi: 512, Asked: 110, Start: 120, End: 990, Worker: 0},
			{Lo: 768, Hi: 1000, Asked: 150, Start: 170, End: 400, Worker: 1},
			{Lo: 512, Hi: 768, Asked: 400, Start: 405, End: 790, Worker: 1, Stolen: true},
		}})
	return r
}

func TestLoopRecords(t *testing.T) {
	rec := oneLoop().Recording()
	l := &rec.Loops[0]
	if busy, claiming := l.Busy(); busy != 870+230+385 || claiming != 10+20+5 || l.Units() != 16 {
		t.Errorf("busy %d, claiming %d, %d units", busy, claiming, l.Units())
	}
	raw, err := rec.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back Recording
	if err := back.UnmarshalBinary(raw); err != nil || !reflect.DeepEqual(back.Loops, rec.Loops) {
		t.Errorf("%v: %+v, want %+v", err, back.Loops, rec.Loops)
	}
	for i := range raw {
		if new(Recording).UnmarshalBinary(raw[:i]) == nil {
			t.Errorf("the first %d of %d bytes were accepted", i, len(raw))
		}
	}
	s := Summarise(rec)
	if s.Total.Tasks != 1 || s.Tracks[1].Busy != 650 || s.Tracks[1].Tasks != 0 {
		t.Errorf("summary %+v", s)
	}
	if New(0, 1, Options{CountersOnly: true}).AddLoop(*l); (*Recorder)(nil).Recording() != nil {
		t.Error("a recorder that is off recorded")
	}
}

// A viewer nests events of a thread by time, so chunks must lie inside of their worker's share.
func TestChromeChunks(t *testing.T) {
	var out bytes.Buffer
	if err := WriteChrome(&out, nil, oneLoop().Recording()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Ph, Cat string
			Tid     int
			Ts, Dur float64
			Args    map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	type span struct{ from, to float64 }
	share := map[int]span{}
	covered := 0.0
	for _, e := range doc.TraceEvents {
		switch e.Cat {
		case "task", "share":
			share[e.Tid] = span{e.Ts, e.Ts + e.Dur}
		case "chunk":
			if s := share[e.Tid]; e.Ts < s.from || e.Ts+e.Dur > s.to {
				t.Errorf("chunk %+v outside of %+v", e, s)
			}
			covered += e.Args["hi"].(float64) - e.Args["lo"].(float64)
		}
	}
	if covered != 1000 {
		t.Errorf("the chunks cover %v of 1000 iterations", covered)
	}
}
