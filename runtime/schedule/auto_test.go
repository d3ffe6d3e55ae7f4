package schedule

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// autoLoop is a loop in virtual time that a Selector schedules; noise is relative.
type autoLoop struct {
	t     *testing.T
	s     *Selector
	key   Key
	tr    *Trace
	rng   *rand.Rand
	noise float64
	sims  map[string]*Simulation
}

func newAutoLoop(t *testing.T, s *Selector, costs []float64, p int, noise float64) *autoLoop {
	return &autoLoop{t: t, s: s, key: KeyOf("loop", len(costs), p), tr: NewTrace(costs), rng: rand.New(rand.NewPCG(1, 2)), noise: noise, sims: map[string]*Simulation{}}
}

// run executes once and returns technique and makespan, as seconds.
func (l *autoLoop) run() (*Technique, float64) {
	l.t.Helper()
	t, record := l.s.Choose(l.key)
	if l.sims[t.Name] == nil {
		sim, err := NewSimulation(l.tr, t, Params{}, Machine{P: l.key.P, H: 1e-7})
		if err != nil {
			l.t.Fatal(err)
		}
		l.sims[t.Name] = sim
	}
	l.sims[t.Name].SetTrace(l.tr)
	out, err := l.sims[t.Name].Run()
	if err != nil {
		l.t.Fatal(err)
	}
	var chunks []Executed
	if record { // what a run would see: small chunks of one size, by anybody
		const size = 8
		for at := 0; at < len(l.tr.costs); at += size {
			n := min(size, len(l.tr.costs)-at)
			chunks = append(chunks, Executed{Start: at, N: n, Seconds: l.tr.Of(at, n)})
		}
	}
	l.s.Done(l.key, t, len(l.tr.costs), out.Makespan*(1+l.noise*l.rng.NormFloat64()), chunks, 1e-7)
	return t, out.Makespan
}

// shapes of costs in seconds, 4000 iterations of 10 us on average.
func autoCosts(shape string) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]float64, 4000)
	for i := range out {
		x := float64(i) / float64(len(out))
		switch shape {
		case "constant":
			out[i] = 1e-5
		case "random":
			out[i] = 1e-5 * rng.ExpFloat64()
		case "falling":
			out[i] = 2e-5 * (1 - x)
		case "clustered":
			out[i] = 4e-6
			if x > 0.3 && x < 0.4 {
				out[i] = 6e-5
			}
		}
	}
	return out
}

// After its exploration AUTO is within 3 % of the oracle, whatever the order of the costs.
func TestAutoIsNearTheOracle(t *testing.T) {
	for _, shape := range []string{"constant", "random", "falling", "clustered"} {
		for _, p := range []int{2, 8} {
			costs := autoCosts(shape)
			l := newAutoLoop(t, NewSelector(), costs, p, 0.02)
			for range 40 {
				l.run()
			}
			chosen, got := l.run()
			_, best, err := oracle(l.tr, techniques(), Params{}, Machine{P: p, H: 1e-7})
			if err != nil {
				t.Fatal(err)
			}
			if got > 1.03*best.Makespan {
				t.Errorf("%s on %d workers: %s takes %.4g s, the oracle %.4g s", shape, p, chosen.Name, got, best.Makespan)
			}
			if a := l.s.arms[l.key]; a == nil || a.reference == 0 {
				t.Errorf("%s on %d workers: nothing is chosen after 41 executions", shape, p)
			}
		}
	}
}

// A loop whose costs change is looked at again, one that only got faster is not.
func TestAutoDrift(t *testing.T) {
	s := NewSelector()
	l := newAutoLoop(t, s, autoCosts("constant"), 4, 0.01)
	for range 40 {
		l.run()
	}
	chosen := s.arms[l.key]
	if chosen == nil || chosen.reference == 0 {
		t.Fatal("nothing is chosen")
	}
	for range 100 {
		l.run()
	}
	if s.arms[l.key] != chosen {
		t.Error("a loop that did not change was looked at again")
	}
	slow := autoCosts("clustered")
	for i := range slow {
		slow[i] *= 2
	}
	l.tr = NewTrace(slow)
	for range 10 {
		l.run()
	}
	if s.arms[l.key] == chosen {
		t.Error("a loop that became twice as slow was not looked at again")
	}
}

// Of candidates that differ by less than each does from execution to execution the one that the
// replay ranks first is chosen; one that is faster by more is not passed over.
func TestAutoRanks(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []float64 // of the candidates, the second of which is the least
		want    int
	}{{"by chance", []float64{1.02, 1, 1.05, 1.01, 1.03}, 0}, {"clearly", []float64{1.3, 1, 1.4, 1.5, 1.2}, 1}} {
		s := NewSelector()
		l := newAutoLoop(t, s, autoCosts("falling"), 4, 0)
		l.run() // recorded
		candidates := slices.Clone(s.arms[l.key].candidates)
		if len(candidates) > len(c.seconds) {
			t.Fatalf("%d candidates", len(candidates))
		}
		turn := map[*Technique]int{}
		for s.arms[l.key].reference == 0 {
			tech, _ := s.Choose(l.key)
			noise := []float64{.9, 1, 1.1}[turn[tech]%3]
			turn[tech]++
			s.Done(l.key, tech, 1000, c.seconds[slices.Index(candidates, tech)]*noise, nil, 0)
		}
		if got, _ := s.Choose(l.key); got != candidates[c.want] {
			t.Errorf("faster %s: %s is chosen, want %s", c.name, got.Name, candidates[c.want].Name)
		}
	}
}

// What was measured decides, not what was simulated: whichever candidate turns out to be fast is
// chosen, whatever its place in the list was; and it takes as many executions as halving takes.
func TestAutoHalving(t *testing.T) {
	for want := range survivors {
		s := NewSelector()
		l := newAutoLoop(t, s, autoCosts("falling"), 4, 0)
		l.run() // recorded
		candidates := slices.Clone(s.arms[l.key].candidates)
		runs := 0
		for ; s.arms[l.key].reference == 0 && runs < 100; runs++ {
			tech, _ := s.Choose(l.key)
			seconds := 2 + float64(slices.Index(candidates, tech))/10
			if tech == candidates[want] && runs%5 != 4 { // and not always
				seconds = 1
			}
			s.Done(l.key, tech, 1000, seconds, nil, 0)
		}
		if got, _ := s.Choose(l.key); got != candidates[want] {
			t.Errorf("%s is chosen, %s was fastest", got.Name, candidates[want].Name)
		}
		// Rounds of 5, 3 and 2 candidates, tries of each; more of those that have not
		// learned yet.
		if most := (5 + 3 + 2) * tries; runs < most || runs > most+survivors*lessons(mustLookup("AWF"))+lessons(mustLookup("COST")) {
			t.Errorf("%d executions to choose one of %d", runs, len(candidates))
		}
	}
}

// A loop that was slow by chance when it was measured is expected to be as fast as it turns out to
// be: later it cannot become as slow again unnoticed.
func TestAutoReferenceFollows(t *testing.T) {
	s := NewSelector()
	gss, _ := Lookup("GSS")
	k := KeyOf("loop", 1000, 4)
	s.arms[k] = &trial{candidates: []*Technique{gss}, times: make([][]float64, 1), reference: 2e-3}
	for range 100 {
		s.Done(k, gss, 1000, 1, nil, 0)
	}
	for range 20 {
		s.Done(k, gss, 1000, 2, nil, 0)
	}
	if a := s.arms[k]; a.reference > 0 {
		t.Errorf("twice as slow as for a long time, and not noticed: %+v", a)
	}
}

// A loop whose executions differ at random is not looked at again for that, whatever it does for
// long; one that becomes half as slow again is.
func TestAutoHeedsNoise(t *testing.T) {
	s := NewSelector()
	rng := rand.New(rand.NewPCG(5, 6))
	l := newAutoLoop(t, s, autoCosts("falling"), 4, 0)
	l.run() // recorded
	done := func(mean float64) {
		tech, _ := s.Choose(l.key)
		s.Done(l.key, tech, 1000, mean*(.8+.4*rng.Float64()), nil, 0)
	}
	for s.arms[l.key].reference == 0 {
		done(1)
	}
	chosen := s.arms[l.key]
	for i := range 3000 {
		if done(1); s.arms[l.key] != chosen {
			t.Fatalf("looked at again after %d executions that differ as they always did", i)
		}
	}
	for range 40 {
		done(1.5)
	}
	if s.arms[l.key] == chosen {
		t.Error("half as slow again, and not noticed")
	}
}

// Choices outlive the process; loops too short to care for are never explored.
func TestAutoIsKept(t *testing.T) {
	s := NewSelector()
	l := newAutoLoop(t, s, autoCosts("random"), 4, 0.01)
	for range 40 {
		l.run()
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := NewSelector()
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	was, _ := s.Choose(l.key)
	if is, record := again.Choose(l.key); record || is.Name != was.Name {
		t.Errorf("%s after reading, %s before:\n%s", is.Name, was.Name, text)
	}
	if err := json.Unmarshal([]byte(`[{"op":"x","bucket":3,"p":2,"technique":"NONE","seconds_per_unit":1}]`), again); err != nil || len(again.arms) != 1 {
		t.Errorf("%v, %d keys", err, len(again.arms))
	}
	if json.Unmarshal([]byte(`{`), again) == nil {
		t.Error("damage was accepted")
	}
	k := KeyOf("short", 100, 2)
	for range 10 {
		tech, record := again.Choose(k)
		if !record || tech.Name != "AUTO_CHUNK" {
			t.Fatalf("%s, record %v", tech.Name, record)
		}
		again.Done(k, tech, 100, 1e-5, []Executed{{Start: 0, N: 100, Seconds: 1e-5}}, 0)
	}
	again.Done(k, recorder(), 0, math.NaN(), nil, 0)
}
