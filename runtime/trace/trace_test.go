package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, got)
	}
}

// twoRanks is a small run: rank 0 computes two tiles and sends one to rank 1, whose clock is 500 ns
// behind.
func twoRanks() (*Recording, *Recording) {
	a := New(0, 2)
	potrf, trsm, tile := a.Name("potrf"), a.Name(`trsm "L\B"`), a.Name("tile")
	a.Worker(0).Add(Event{Kind: Task, ID: 0, Name: potrf, Start: 1000, End: 3000})
	a.Worker(0).Add(Event{Kind: Task, ID: 1, Name: trsm, Start: 3000, End: 6001})
	a.Worker(1).Add(Event{Kind: Wait, ID: 2, Name: tile, Start: 1000, End: 2000})
	a.Worker(1).Add(Event{Kind: Task, ID: 2, Name: trsm, Start: 2000, End: 4000})
	a.Communication().Add(Event{Kind: Send, ID: 7, Name: tile, Peer: 1, Bytes: 2048, Start: 3000, End: 5000})
	a.Communication().Add(Event{Kind: Send, ID: 8, Name: tile, Peer: 1, Bytes: 1024, Start: 4500, End: 6001})
	b := New(1, 1)
	got, use := b.Name("tile"), b.Name("gemm")
	b.Communication().Add(Event{Kind: Receive, ID: 7, Name: got, Peer: 0, Bytes: 2048, Start: 500, End: 5000})
	b.Worker(0).Add(Event{Kind: Task, ID: 3, Name: use, Start: 5500, End: 8500})
	ra, rb := a.Recording(), b.Recording()
	ra.Epoch, rb.Epoch, rb.Offset = 1000000, 999500, 500
	return ra, rb
}

func TestChromeGolden(t *testing.T) {
	a, b := twoRanks()
	var out bytes.Buffer
	args := make([]Arg, 2)
	describe := func(rank int, e *Event) []Arg {
		if e.Kind != Task {
			return nil
		}
		args[0] = Arg{Key: "k", Number: int64(e.ID)}
		args[1] = Arg{Key: "line", Text: "cholesky.flow:12"}
		return args
	}
	if err := WriteChrome(&out, describe, a, nil, b); err != nil {
		t.Fatal(err)
	}
	golden(t, "two_ranks.json", out.Bytes())
	var doc struct {
		TraceEvents []struct {
			Ph, Name, Cat, ID string
			Pid, Tid          int
			Ts, Dur           float64
			Args              map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, out.Bytes())
	}
	arrows := map[string][]string{}
	type thread struct{ pid, tid int }
	busyUntil := map[thread]float64{}
	tasks := 0
	for _, e := range doc.TraceEvents {
		if e.Ph == "s" || e.Ph == "f" {
			arrows[e.ID] = append(arrows[e.ID], e.Ph)
		}
		if e.Ph == "X" {
			at := thread{e.Pid, e.Tid}
			if e.Ts < busyUntil[at] {
				t.Errorf("%s at %v overlaps the event before it in thread %v", e.Name, e.Ts, at)
			}
			busyUntil[at] = e.Ts + e.Dur - 1e-6
		}
		if e.Cat == "task" {
			tasks++
			if e.Name == `trsm "L\B"` && e.Args["line"] != "cholesky.flow:12" {
				t.Errorf("args %v", e.Args)
			}
		}
	}
	if want := map[string][]string{"0.1.7.0": {"s", "f"}, "0.1.8.0": {"s"}}; !reflect.DeepEqual(arrows, want) {
		t.Errorf("arrows %v, want %v", arrows, want)
	}
	if tasks != 4 {
		t.Errorf("%d tasks, want 4", tasks)
	}
}

func TestEmptyChromeIsJSON(t *testing.T) {
	for _, recs := range [][]*Recording{nil, {nil}, {New(0, 0).Recording()}} {
		var out bytes.Buffer
		if err := WriteChrome(&out, nil, recs...); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %s", err, out.Bytes())
		}
	}
}

func TestSummary(t *testing.T) {
	a, b := twoRanks()
	s := Summarise(a, nil, b)
	type account struct{ tasks, busy, communication, wait, idle int64 }
	want := map[string]account{
		"0 worker 0": {2, 5001, 0, 0, 2999}, "0 worker 1": {1, 2000, 0, 1000, 5000}, "0 communication": {0, 0, 3001, 0, 4999},
		"1 worker 0": {1, 3000, 0, 0, 5000}, "1 communication": {0, 0, 4500, 0, 3500},
	}
	for _, tr := range s.Tracks {
		name := fmt.Sprint(tr.Rank, " ", tr.Name)
		if got := (account{int64(tr.Tasks), tr.Busy, tr.Communication, tr.Wait, tr.Idle}); got != want[name] {
			t.Errorf("%s: %v, want %v", name, got, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no account of %v", want)
	}
	if c := s.Total; c.Tasks != 4 || c.Sent != 2 || c.BytesSent != 3072 || c.Received != 1 || c.BytesReceived != 2048 {
		t.Errorf("counters %+v", c)
	}
	// Rank 0 sends during 3000..6001, always with a worker busy, with both until 4000. Rank 1
	// waits for its tile with none.
	if s.Communication != 3001+4500 || s.Hidden != 3001 || s.FullyHidden != 1000 {
		t.Errorf("communication %d, hidden %d, fully %d", s.Communication, s.Hidden, s.FullyHidden)
	}
	if s.Makespan != 8000 {
		t.Errorf("makespan %d", s.Makespan)
	}
	for _, tr := range s.Tracks {
		if sum := tr.Busy + tr.Communication + tr.Wait + tr.Idle; sum != s.Makespan {
			t.Errorf("rank %d %s: the parts sum to %d of %d", tr.Rank, tr.Name, sum, s.Makespan)
		}
	}
	if z := Summarise(); z.Makespan != 0 || z.HiddenShare() != 0 {
		t.Errorf("summary of nothing: %+v", z)
	}
}

func TestBinary(t *testing.T) {
	for _, r := range func() []*Recording { a, b := twoRanks(); return []*Recording{a, b, New(3, 2).Recording()} }() {
		raw, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Recording
		if err := back.UnmarshalBinary(raw); err != nil {
			t.Fatal(err)
		}
		var one, two bytes.Buffer
		if WriteChrome(&one, nil, r) != nil || WriteChrome(&two, nil, &back) != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("rank %d changed on its way:\n%s\n%s", r.Rank, one.Bytes(), two.Bytes())
		}
		if x, y := Summarise(r), Summarise(&back); !reflect.DeepEqual(x, y) {
			t.Errorf("rank %d: %+v, and %+v after its way", r.Rank, x, y)
		}
		for i := range raw {
			if new(Recording).UnmarshalBinary(raw[:i]) == nil {
				t.Errorf("the first %d of %d bytes were accepted", i, len(raw))
			}
		}
	}
}

func FuzzBinary(f *testing.F) {
	a, _ := twoRanks()
	raw, _ := a.MarshalBinary()
	f.Add(raw)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r Recording
		if r.UnmarshalBinary(raw) != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteChrome(&out, nil, &r); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %q", err, out.Bytes())
		}
		Summarise(&r)
	})
}

func TestManyEventsAndWriters(t *testing.T) {
	const n = 3*slabEvents + 5
	r := New(0, 2)
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			tr := r.Worker(w)
			at := tr.Now()
			for i := range n {
				at = tr.Task(int32(i), 0, at)
				r.Communication().Add(Event{Kind: Send, Start: at, End: at + 1, Bytes: 3})
			}
		})
	}
	all.Wait()
	rec := r.Recording()
	next := int32(0)
	for e := range rec.Tracks[1].Events() {
		if e.ID != next || e.End < e.Start {
			t.Fatalf("event %d is %+v", next, *e)
		}
		next++
	}
	comm := rec.Tracks[2]
	if next != n || comm.Len() != 2*n || comm.Counters.BytesSent != 6*n || rec.Tracks[0].Counters.Tasks != n {
		t.Errorf("%d events, %d messages, counters %+v", next, comm.Len(), comm.Counters)
	}
}

func TestLimitsAndOff(t *testing.T) {
	few := New(0, 1, Options{MaxEvents: 3})
	sums := New(0, 1, Options{CountersOnly: true})
	for _, r := range []*Recorder{few, sums} {
		for i := range int64(10) {
			r.Worker(0).Add(Event{Kind: Task, Start: 10 + i, End: 11 + i})
		}
	}
	a, b := few.Recording().Tracks[0], sums.Recording().Tracks[0]
	if a.Len() != 3 || a.Counters.Dropped != 7 || a.Counters.Tasks != 10 {
		t.Errorf("%d events, %+v", a.Len(), a.Counters)
	}
	if b.Len() != 0 || b.Counters.Dropped != 0 || b.Counters.Busy != 10 || b.Counters.First != 10 || b.Counters.Last != 20 {
		t.Errorf("%d events, %+v", b.Len(), b.Counters)
	}
	if s := Summarise(sums.Recording()); s.Makespan != 10 || s.Tracks[0].Idle != 0 {
		t.Errorf("summary without events: %+v", s)
	}
	var off *Recorder
	tr := off.Worker(5)
	if tr.Now() != 0 || tr.Task(1, off.Name("x"), 0) != 0 || off.Recording() != nil || off.Communication() != nil {
		t.Error("a recorder that is off did something")
	}
	tr.Add(Event{})
	if allocs := testing.AllocsPerRun(100, func() { tr.Task(1, 1, tr.Now()) }); allocs != 0 {
		t.Errorf("%v allocations while off", allocs)
	}
}

// failing accepts some bytes and then no more.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	a, b := twoRanks()
	if err := WriteChrome(&failing{100}, nil, a, b); err != io.ErrShortWrite {
		t.Errorf("WriteChrome: %v", err)
	}
	if !strings.HasPrefix(Kind(9).String(), "kind(") {
		t.Error("unknown kind")
	}
}

func BenchmarkTrack(b *testing.B) {
	for name, r := range map[string]*Recorder{"off": nil, "counters": New(0, 1, Options{CountersOnly: true}), "events": New(0, 1)} {
		b.Run(name, func(b *testing.B) {
			t := r.Worker(0)
			at := t.Now()
			for i := range b.N {
				at = t.Task(int32(i), 0, at)
			}
		})
	}
}

func BenchmarkWriteChrome(b *testing.B) {
	r := New(0, 1)
	r.Name("gemm")
	for i := range int64(100000) {
		r.Worker(0).Add(Event{Kind: Task, ID: int32(i), Start: 1000 * i, End: 1000*i + 900})
	}
	rec := r.Recording()
	for range b.N {
		if err := WriteChrome(io.Discard, nil, rec); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100000, "ns/event")
}
