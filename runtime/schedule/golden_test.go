package schedule

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// This file compares every technique with the golden sequences, and checks what all sequences have
// in common.

// goldenKeys are the keys of the file that say how a technique is meant to round, with the params
// that they were made with. A technique that is not here depends on measurements and has no
// sequence to publish.
func goldenKeys(p int) map[string]struct {
	technique string
	params    Params
} {
	ramp := make([]float64, p)
	for i := range ramp {
		ramp[i] = float64(i + 1)
	}
	type row = struct {
		technique string
		params    Params
	}
	rows := map[string]row{
		"FSC_H02":   {"FSC", Params{H: 0.2, Sigma: 1}},
		"FSC":       {"FSC", Params{H: 3, Sigma: 3}},
		"TAP_CV05":  {"TAP", Params{Mu: 2, Sigma: 1}},
		"FAC_CV05":  {"FAC", Params{Mu: 4, Sigma: 2}},
		"WF2_RR":    {"WF2", Params{Weights: ramp}},
		"PLS_SWR07": {"PLS", Params{SWR: 0.7}},
	}
	for _, name := range []string{"STATIC", "MSTATIC", "SS", "MFSC", "AUTO_CHUNK", "GSS", "TSS", "FAC2", "TFSS", "FISS", "VISS", "PLS", "PSS", "PSS_SEEDED", "RAND"} {
		rows[name] = row{name, Params{}}
	}
	return rows
}

func TestGolden(t *testing.T) {
	for _, file := range []string{filepath.Join("testdata", "chunks.json")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden map[string]map[string][]Run
		if err := json.Unmarshal(text, &golden); err != nil {
			t.Fatal(err)
		}
		for key := range goldenKeys(1) {
			if len(golden[key]) != 6 {
				t.Fatalf("%s has %d lists of %s, want 6", file, len(golden[key]), key)
			}
			for np, want := range golden[key] {
				var n, p int
				if _, err := fmt.Sscanf(np, "%d,%d", &n, &p); err != nil {
					t.Fatal(err)
				}
				row := goldenKeys(p)[key]
				row.params.N, row.params.P = n, p
				tech, err := Lookup(row.technique)
				if err != nil {
					t.Fatal(err)
				}
				got, err := Sequence(tech, row.params)
				if err != nil || !slices.Equal(got, want) && len(got)+len(want) > 0 {
					t.Errorf("%s: %s (%s)\n got %v %v\nwant %v", file, key, np, got, err, want)
				}
			}
		}
	}
}

// UnmarshalJSON reads a pair [size, repeat].
func (r *Run) UnmarshalJSON(text []byte) error {
	var pair [2]int
	err := json.Unmarshal(text, &pair)
	r.Size, r.Repeat = pair[0], pair[1]
	return err
}

// oneGoroutine leaves a test out under -short, with which the race detector runs: there is no race in
// one goroutine.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine")
	}
}

// TestSums runs every technique over 405 sizes and 9 numbers of workers: sizes are positive and
// their sum is N. The sizes are small ones and neighbours of powers, where rounding goes wrong.
func TestSums(t *testing.T) {
	oneGoroutine(t)
	var sizes []int
	for n := range 300 {
		sizes = append(sizes, n)
	}
	for _, base := range []int{512, 1000, 1024, 2187, 4096, 10000, 65536} {
		for d := -7; d < 8; d++ {
			sizes = append(sizes, base+d)
		}
	}
	if len(sizes) != 405 {
		t.Fatalf("%d sizes", len(sizes))
	}
	workers := []int{1, 2, 3, 4, 7, 8, 16, 61, 128}
	for _, row := range append(techniques(), expression(t, "expr: R/(1.5*P)"), expression(t, "expr: max(1, 10-i)")) {
		listed := sizes
		if row.Name == "PSS_MEASURED" {
			listed = sizes[:320]
		}
		for _, n := range listed {
			for _, p := range workers {
				for _, least := range []int{0, 5} {
					runs, err := Sequence(&row, Params{N: n, P: p, MinChunk: least})
					if err != nil {
						t.Fatalf("%s N=%d P=%d: %v", row.Name, n, p, err)
					}
					sum := 0
					for i, r := range runs {
						if r.Size <= 0 || r.Repeat <= 0 || r.Size < least && (i < len(runs)-1 || r.Repeat > 1) && row.Class != "stealing" && row.Class != "cost" {
							t.Fatalf("%s N=%d P=%d least=%d: %v", row.Name, n, p, least, runs)
						}
						sum += r.Size * r.Repeat
					}
					if sum != n {
						t.Fatalf("%s N=%d P=%d: sum %d of %v", row.Name, n, p, sum, runs)
					}
				}
			}
		}
	}
}

func expression(t *testing.T, text string) Technique {
	t.Helper()
	tech, err := Lookup(text)
	if err != nil {
		t.Fatal(err)
	}
	return *tech
}
