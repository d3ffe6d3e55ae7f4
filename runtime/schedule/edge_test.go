package schedule

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// This file checks the loops that break other implementations, what is refused, and names.

func sequence(t *testing.T, name string, p Params) []Run {
	t.Helper()
	tech, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := Sequence(tech, p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return runs
}

func TestEdgeCases(t *testing.T) {
	for _, row := range techniques() {
		if got := sequence(t, row.Name, Params{N: 0, P: 4}); len(got) != 0 {
			t.Errorf("%s hands out %v of no iterations", row.Name, got)
		}
		if got := sequence(t, row.Name, Params{N: 1, P: 1}); !slices.Equal(got, []Run{{1, 1}}) {
			t.Errorf("%s: one iteration goes out as %v", row.Name, got)
		}
		if got := sequence(t, row.Name, Params{N: 7, P: 8}); !slices.Equal(got, []Run{{1, 7}}) && row.Name != "PSS_SEEDED" && row.Name != "PSS_MEASURED" {
			t.Errorf("%s: seven iterations of eight workers go out as %v", row.Name, got)
		}
	}
	for _, c := range []struct {
		what, name string
		p          Params
		want       []Run
	}{
		{"ln P = 0", "FSC", Params{N: 100, P: 1}, []Run{{100, 1}}},
		{"sigma = 0", "FSC", Params{N: 100, P: 4, Mu: 1, H: 1}, []Run{{25, 4}}},
		{"ln T = 0", "MFSC", Params{N: 4, P: 4}, []Run{{1, 4}}},
		{"log2 of 0", "AUTO_CHUNK", Params{N: 3, P: 4}, []Run{{1, 3}}},
		{"S - 1 = 0", "TSS", Params{N: 1, P: 4}, []Run{{1, 1}}},
		{"one stage", "FISS", Params{N: 100, P: 4, Stages: 1}, []Run{{25, 4}}},
		{"P = 1", "FISS", Params{N: 100, P: 1}, []Run{{20, 1}, {33, 1}, {47, 1}}},
		{"one worker", "GSS", Params{N: 100, P: 1}, []Run{{100, 1}}},
		{"sigma = 0", "TAP", Params{N: 100, P: 3, Mu: 1}, sequence(t, "GSS", Params{N: 100, P: 3})},
		{"sigma = 0", "FAC", Params{N: 100, P: 4, Mu: 1}, []Run{{25, 4}}},
		{"just below a power", "FAC2", Params{N: 1023, P: 4}, []Run{{128, 4}, {64, 4}, {32, 4}, {16, 4}, {8, 4}, {4, 4}, {2, 4}, {1, 7}}},
		{"smallest chunk", "GSS", Params{N: 100, P: 4, MinChunk: 20}, []Run{{25, 1}, {20, 3}, {15, 1}}},
		{"smallest chunk above the share", "STATIC", Params{N: 100, P: 8, MinChunk: 30}, []Run{{30, 3}, {10, 1}}},
		{"smallest chunk above the loop", "SS", Params{N: 5, P: 8, MinChunk: 30}, []Run{{5, 1}}},
		{"below the last chunk", "TSS", Params{N: 1050, P: 4, First: 100, Last: 20}, []Run{{100, 1}, {96, 1}, {92, 1}, {88, 1}, {84, 1}, {80, 1}, {76, 1}, {72, 1}, {68, 1}, {64, 1},
			{60, 1}, {56, 1}, {52, 1}, {48, 1}, {14, 1}}},
		{"chunks of one size", "TFSS", Params{N: 1050, P: 4, First: 100, Last: 100}, []Run{{100, 10}, {50, 1}}},
		{"chunks above the loop", "TFSS", Params{N: 10, P: 4, First: math.MaxInt, Last: math.MaxInt}, []Run{{10, 1}}},
		{"a power: the batches down to 1 leave some", "WF2", Params{N: 1024, P: 4}, []Run{{128, 4}, {64, 4}, {32, 4}, {16, 4}, {8, 4}, {4, 4}, {2, 4}, {1, 8}}},
		{"0.618 * 13 is above 8", "AUTO_CHUNK", Params{N: 1 << 15, P: 4}, []Run{{16, 2048}}},
		{"two ask at a time", "PSS", Params{N: 100, P: 8, Idle: 2}, []Run{{34, 1}, {22, 1}, {15, 1}, {10, 1}, {7, 1}, {4, 1}, {3, 1}, {2, 1}, {1, 3}}},
		{"as exact as integers", "PLS", Params{N: MaxN - 1, P: 3, SWR: 1}, []Run{{3002399751580331, 2}, {3002399751580329, 1}}},
		{"sigma = 0", "TAP", Params{N: MaxN - 1, P: 3, Mu: 1}, sequence(t, "GSS", Params{N: MaxN - 1, P: 3})},
		{"the expert's unit", "StaticSteal", Params{N: 101, P: 3}, []Run{{2, 50}, {1, 1}}},
		{"a unit of one", "StaticSteal", Params{N: 101, P: 3, MinChunk: 1}, []Run{{1, 101}}},
		{"dynamic,c", "SS", Params{N: 100, P: 8, MinChunk: 30}, []Run{{30, 3}, {10, 1}}},
	} {
		if got := sequence(t, c.name, c.p); !slices.Equal(got, c.want) {
			t.Errorf("%s (%s): %v, want %v", c.name, c.what, got, c.want)
		}
	}
	// A trapezoid whose number of steps is rounded down ends early and leaves thousands of
	// single iterations.
	if got := sequence(t, "TSS", Params{N: 1_000_000, P: 16}); len(got) != 63 {
		t.Errorf("TSS: %d chunks, want 63", len(got))
	}
}

// TestLargest: counts up to 2^53 overflow nothing.
func TestLargest(t *testing.T) {
	for _, row := range techniques() {
		if row.Class == "fixed" || row.Name == "StaticSteal" || row.Name == "COST" {
			continue // listed by formula, or in millions of chunks
		}
		sum := 0
		for _, r := range sequence(t, row.Name, Params{N: MaxN, P: 3}) {
			sum += r.Size * r.Repeat
		}
		if sum != MaxN {
			t.Errorf("%s: sum %d", row.Name, sum)
		}
	}
	if got := sequence(t, "SS", Params{N: MaxN, P: 3}); !slices.Equal(got, []Run{{1, MaxN}}) {
		t.Errorf("SS: %v", got)
	}
	c := claimer(t, "StaticSteal", Params{N: MaxN, P: 3, MinChunk: 2})
	if start, size, ok := c.Claim(2); !ok || start <= MaxN/2 || size < MaxN/maxUnits {
		t.Errorf("StaticSteal of 2^53 iterations: %d %d %v", start, size, ok)
	}
}

func TestRefusedParams(t *testing.T) {
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{N: -1, P: 1}, "n = -1"},
		{Params{N: MaxN + 1, P: 1}, "2^53"},
		{Params{N: 1, P: 0}, "p = 0"},
		{Params{N: 1, P: 1, MinChunk: -3}, "-3"},
		{Params{N: 1, P: 1, Sigma: math.NaN()}, "sigma = NaN"},
		{Params{N: 1, P: 1, H: math.Inf(1)}, "h = +Inf"},
		{Params{N: 1, P: 1, Mu: -1}, "mu = -1"},
		{Params{N: 1, P: 2, Weights: []float64{1}}, "1 weights for 2"},
		{Params{N: 1, P: 2, Weights: []float64{1, 0}}, "weight 1 is 0"},
		{Params{N: 1, P: 2, SWR: 1.5}, "ratio 1.5"},
		{Params{N: 1, P: 2, Idle: 3}, "idle = 3"},
		{Params{N: 1, P: 2, First: 3, Last: 4}, "first chunk 3"},
		{Params{N: 1, P: 2, Stages: -1}, "stages = -1"},
		{Params{N: 1, P: 2, Profile: []float64{math.NaN()}}, "cost 0"},
	} {
		tech, err := Lookup("GSS")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tech.New(c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range techniques() {
		for _, n := range append([]string{row.Name}, row.Aliases...) {
			if seen[plain(n)] {
				t.Errorf("%s is the name of two techniques", n)
			}
			seen[plain(n)] = true
			for _, spelt := range []string{n, strings.ToLower(n), strings.ReplaceAll(n, "-", "_")} {
				if got, err := Lookup(spelt); err != nil || got.Name != row.Name {
					t.Errorf("%s: %v %v", spelt, got, err)
				}
			}
		}
		if row.Doc == "" || row.Source == "" || row.Class == "" || row.Needs == "" {
			t.Errorf("%s: the row is incomplete", row.Name)
		}
	}
	var unknown *UnknownError
	if _, err := Lookup("fca2"); !errors.As(err, &unknown) || unknown.Suggest != "FAC2" {
		t.Errorf("fca2: %v", err)
	}
	if _, err := Lookup("staticstel"); !errors.As(err, &unknown) || unknown.Suggest != "StaticSteal" {
		t.Errorf("staticstel: %+v", err)
	}
	if _, err := Lookup("zzz"); !errors.As(err, &unknown) || unknown.Suggest != "" {
		t.Errorf("zzz: %v", err)
	}
}

func TestExpressions(t *testing.T) {
	for text, same := range map[string]string{
		"expr: ceil(R/P)":                             "GSS",
		"EXPR:R/P":                                    "GSS",
		"expr: ceil(R / (1.5 * P))":                   "PSS",
		"expr: 1":                                     "SS",
		"expr: ceil(N/(4*P))":                         "MSTATIC",
		"expr: max(1, ceil(N/(P*2^(i//P+1))))":        "FAC2",
		"expr: max(ceil(N/(2*P)) - i*7, 1)":           "",
		"expr: min(R, 3, P) + abs(-sqrt(4)) - i % 2":  "",
		"expr: round(exp(log(8))) + floor(log2(N))":   "",
		"expr: round(2.5) - 1 + round(0.5)":           "SS", // to even
		"expr: (i + 2) % -3 + 3 - (i - 2000) % 3":     "SS", // with the sign of the divisor
		"expr: (h + mu + sigma) * 2 - --1 * (i == i)": "!",
	} {
		tech, err := Lookup(text)
		if same == "!" {
			if err == nil {
				t.Errorf("%s is an expression", text)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := Sequence(tech, Params{N: 1000, P: 4})
		if err != nil {
			t.Fatal(err)
		}
		if same != "" && !slices.Equal(got, sequence(t, same, Params{N: 1000, P: 4})) {
			t.Errorf("%s: %v, want the chunks of %s", text, got, same)
		}
	}
	for text, want := range map[string]string{
		"expr:":                "there is no expression",
		"expr: R/":             "R/",
		"expr: Q/2":            "no Q",
		"expr: cel(R)":         "did you mean ceil?",
		"expr: ceil(R, 2)":     "one argument",
		"expr: min(R)":         "two arguments",
		"expr: R == 2":         "==",
		"expr: not R":          "not",
		"expr: [R]":            "arithmetic",
		"expr: ceil(x = R)":    "named",
		"expr: R[0]":           "arithmetic",
		"expr: R.f(2)":         "functions",
		"expr: nope(R)":        "no function nope",
		"expr: \"a\"":          "arithmetic",
		"expr: if R { 1 }":     "arithmetic",
		"expr: R |> ceil":      "|>",
		"expr: (R % 3) ~ nope": "~",
	} {
		if _, err := Lookup(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// Results that are no size: the step and its values are named.
	for text, want := range map[string]string{
		"expr: 0":              "is 0 at step 0 (N = 100, P = 4, R = 100, i = 0)",
		"expr: R - 100":        "is 0 at step 0",
		"expr: 10 - i":         "10 - i is 0 at step 10 (N = 100, P = 4, R = 45, i = 10)",
		"expr: 5 - 3*i":        "is -1 at step 2",
		"expr: 1/0":            "is +Inf at step 0",
		"expr: (R-R)/(R-R)":    "is NaN at step 0",
		"expr: log(4 - i)":     "is 0 at step 3",
		"expr: sqrt(50 - 2*R)": "is NaN at step 0",
	} {
		tech, err := Lookup(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tech.New(Params{N: 100, P: 4}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// A step so late that only the run finds it: claiming ends, and Err says why.
	late := claimer(t, "expr: 6000 - i", Params{N: 1 << 40, P: 4})
	for late.drained(0) {
	}
	if err := late.Err(); err == nil || !strings.Contains(err.Error(), "at step 6000 (") {
		t.Errorf("a late step: %v", err)
	}
}

// TestEndless: a technique that is told to make too many chunks ends with an error before they fill
// the memory, and claims what came before.
func TestEndless(t *testing.T) {
	tech, err := Lookup("expr: 1 + 0*i")
	if err != nil {
		t.Fatal(err)
	}
	calc, err := tech.New(Params{N: 1 << 40, P: 4})
	if err != nil {
		t.Fatal(err)
	}
	calc.(*prefix).most = 10_000
	c := NewClaimer(calc)
	claimed := 0
	for c.drained(0) {
		claimed++
	}
	if err := c.Err(); claimed != 10_000 || err == nil || !strings.Contains(err.Error(), "after 10000 chunks") {
		t.Errorf("%d chunks, %v", claimed, err)
	}
}

// TestTrapezoidMean: the sum in closed form is the sum, for the largest loops without overflow, and
// for as many workers as there may be at once.
func TestTrapezoidMean(t *testing.T) {
	oneGoroutine(t)
	for _, p := range []Params{{N: 1000, P: 4}, {N: 999, P: 13}, {N: 1_000_000, P: 16}, {N: 5000, P: 7, First: 300, Last: 20}, {N: 100, P: 3, First: 40, Last: 40}, {N: 7, P: 8}} {
		p, err := p.checked()
		if err != nil {
			t.Fatal(err)
		}
		z := newTrapezoid(p)
		for i := 0; i < 200; i += 3 {
			sum := 0
			for k := range p.P {
				sum += z.size(i + k)
			}
			if got := z.mean(i, p.P); got != sum/p.P {
				t.Fatalf("%+v: mean of %d sizes from %d on is %d, want %d", z, p.P, i, got, sum/p.P)
			}
		}
	}
	if got := sequence(t, "TFSS", Params{N: MaxN, P: MaxP}); got[0].Repeat != MaxP || got[0].Size > MaxN/(2*MaxP) || got[0].Size < MaxN/(3*MaxP) {
		t.Errorf("2^53 iterations on 2^20 workers begin with %v", got[0])
	}
}

// TestSequenceLearns: techniques that learn are told of workers as fast as their weights, of each
// chunk when the next one is asked for.
func TestSequenceLearns(t *testing.T) {
	p := Params{N: 8000, P: 4, Weights: []float64{1, 1, 1, 5}}
	first := func(name string, n int) (sizes []int) {
		for _, r := range sequence(t, name, p) {
			for range r.Repeat {
				sizes = append(sizes, r.Size)
			}
		}
		return sizes[:n]
	}
	// ceil(w 1000), ceil(w 500) with w = .5 and 2.5: what is measured is what was given.
	if got := first("AWF-B", 8); !slices.Equal(got, []int{500, 500, 500, 2500, 250, 250, 250, 1250}) {
		t.Errorf("AWF-B begins with %v", got)
	}
	// Two probes of 200 each tell AF that one is five times as fast: T R/mu = 6400/8 and 5/8 of
	// what is left then.
	if got := first("AF", 12); !slices.Equal(got[8:], []int{800, 700, 613, 2680}) {
		t.Errorf("AF goes on with %v", got[8:])
	}
	// Nobody has reported when all ask first: 4, 3, 2 and 1 are idle; from then on one is.
	p.N, p.Weights = 1000, nil
	if got := first("PSS_MEASURED", 5); !slices.Equal(got, []int{167, 159, 150, 140, 117}) {
		t.Errorf("PSS_MEASURED begins with %v", got)
	}
}

// TestDivisor: a division by multiplication is the division.
func TestDivisor(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 6, 7, 14, 16, 24, 60, 127, 128, 1000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 2 * MaxP} {
		v := newDivisor(d)
		for _, base := range []int{0, d, 3 * d, 1 << 20, 1 << 31, 1<<40 + 12345, MaxN - 2, MaxN / d * d} {
			for a := max(0, base-2); a <= min(base+2, MaxN); a++ {
				if got := v.ceil(a); got != ceilDiv(a, d) {
					t.Errorf("%d over %d: %d, want %d", a, d, got, ceilDiv(a, d))
				}
			}
		}
	}
}
