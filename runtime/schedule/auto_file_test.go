package schedule

import (
	"encoding/json"
	"testing"
)

// throughFile is what a later process knows of a Selector.
func throughFile(t *testing.T, s *Selector) *Selector {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := NewSelector()
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return again
}

// A program that executes a loop once a run finds its technique over many runs, notices over some
// more that the loop became slower, and then looks for another. Nothing but the file goes from run
// to run: techniques that learn begin anew in each.
func TestAutoOverRuns(t *testing.T) {
	for _, shape := range []string{"random", "falling", "clustered"} {
		s := NewSelector()
		costs := autoCosts(shape)
		var chosen *Technique
		var took float64
		once := func() *trial {
			s = throughFile(t, s)
			l := newAutoLoop(t, s, costs, 4, 0)
			chosen, took = l.run()
			return s.arms[l.key]
		}
		runs := 0
		for a := once(); a == nil || a.reference == 0; a = once() {
			if runs++; runs > 40 {
				t.Fatalf("%s: nothing is chosen after %d runs: %+v", shape, runs, a)
			}
		}
		once()
		best := 0.0 // of the techniques in a first execution
		for _, tech := range techniques() {
			if out, err := simulate(NewTrace(costs), &tech, Params{}, Machine{P: 4, H: 1e-7}); err != nil {
				t.Fatal(err)
			} else if best == 0 || out.Makespan < best {
				best = out.Makespan
			}
		}
		if took > 1.03*best {
			t.Errorf("%s: %s takes %.4g s, the best technique %.4g s", shape, chosen.Name, took, best)
		}
		before := throughFile(t, s)
		for i := range costs {
			costs[i] *= 3
		}
		runs = 0
		for a := once(); a.reference > 0; a = once() {
			if runs++; runs > 12 {
				t.Fatalf("%s: a loop that became three times as slow was not looked at again", shape)
			}
		}
		text, err := json.Marshal(s)
		if err == nil { // a run adds what it found out to the file as it is then
			err = json.Unmarshal(text, before)
		}
		if err != nil || before.arms[KeyOf("loop", len(costs), 4)] != nil {
			t.Errorf("%s: the choice stayed in the file: %v", shape, err)
		}
	}
}

// What cannot have been written is left out, each key by itself; a key that lost its choice takes
// it from who reads on.
func TestAutoDamagedFile(t *testing.T) {
	for _, text := range []string{
		`{"technique":"NONE","seconds_per_unit":1}`,
		`{"technique":"AUTO","seconds_per_unit":1}`,
		`{"technique":"expr: 1","seconds_per_unit":1}`,
		`{"technique":"GSS"}`,
		`{"technique":"GSS","seconds_per_unit":-1}`,
		`{"technique":"GSS","seconds_per_unit":1,"cusum":-1}`,
		`{"trying":[{"technique":"GSS"},{"technique":"NONE"}]}`,
		`{"trying":[{"technique":"GSS","seconds_per_unit":[1,0]}]}`,
		`{"op":"x"}`,
	} {
		s := NewSelector()
		if err := json.Unmarshal([]byte(`[`+text+`,{"op":"y","bucket":3,"p":2,"technique":"TSS","seconds_per_unit":1}]`), s); err != nil || len(s.arms) != 1 {
			t.Errorf("%s: %v, %d keys, want that of y", text, err, len(s.arms))
		}
		if got, record := s.Choose(Key{"y", 3, 2}); record || got.Name != "TSS" {
			t.Errorf("%s: y has %s", text, got.Name)
		}
	}
	s := NewSelector()
	if err := json.Unmarshal([]byte(`[{"trying":[{"technique":"GSS","seconds_per_unit":[1,2,3,4,5]},{"technique":"SS"}],"next":-7}]`), s); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the second one has had no turn
		tech, _ := s.Choose(Key{})
		s.Done(Key{}, tech, 1, 9, nil, 0)
	}
	for range 3 {
		tech, _ := s.Choose(Key{})
		s.Done(Key{}, tech, 1, 9, nil, 0)
	}
	if tech, _ := s.Choose(Key{}); tech.Name != "GSS" || s.arms[Key{}].reference == 0 {
		t.Errorf("%s of an exploration that was told: %+v", tech.Name, s.arms[Key{}])
	}
	if json.Unmarshal([]byte(`[{"op":"y"},{}]`), s) != nil || len(s.arms) != 0 {
		t.Errorf("%d keys after both choices were lost", len(s.arms))
	}
}
