package schedule

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// This file checks that what techniques hand out is a function of what was reported, and stays what
// it was: the chunks of executions on a scripted machine are kept as hashes in
// testdata/replay.json.

var update = flag.Bool("update", false, "write the hashes of replayed executions anew")

// replayed runs several executions of a loop of uneven costs on workers of uneven speeds, and
// returns a hash of who was given which iterations in each, with their number.
func replayed(t *testing.T, name string, n, p int, clock, zero bool) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	costs := make([]float64, n+1)
	for i := range n {
		costs[i+1] = costs[i] + (0.5+r.Float64())*(1+2*float64(i)/float64(n))
	}
	now := 0.0
	params := Params{N: n, P: p, Mu: 2, Sigma: 6, H: 1.5}
	if clock {
		params.Now = func() float64 { return now }
	}
	c := claimer(t, name, params)
	var out []string
	for range 3 {
		h, chunks := fnv.New64a(), 0
		type running struct{ start, size int }
		last, free, done := make([]running, p), make([]float64, p), make([]bool, p)
		for left := p; left > 0; {
			w := -1
			for i := range p {
				if !done[i] && (w < 0 || free[i] < free[w]) {
					w = i
				}
			}
			now = free[w]
			speed := 1 / (1 + float64(w%4)*0.3)
			if l := last[w]; l.size > 0 {
				seconds := (costs[l.start+l.size] - costs[l.start]) / speed
				if zero && l.start%3 == 0 {
					seconds = 0 // a clock that did not move
				}
				c.Report(w, l.start, l.size, seconds, 1.5)
			}
			start, size, ok := c.Claim(w)
			if !ok {
				done[w] = true
				left--
				continue
			}
			fmt.Fprintln(h, w, start, size)
			chunks++
			last[w] = running{start, size}
			free[w] = now + 1.5 + (costs[start+size]-costs[start])/speed
		}
		out = append(out, fmt.Sprintf("%d chunks, %016x", chunks, h.Sum64()))
		c.Reset()
	}
	return out
}

// TestReplay: other processors may fuse multiplications with additions, so hashes are of this one.
func TestReplay(t *testing.T) {
	oneGoroutine(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the hashes are those of amd64")
	}
	const file = "testdata/replay.json"
	want, got := map[string][]string{}, map[string][]string{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
	} else if !*update {
		t.Fatal(err)
	}
	for _, row := range techniques() {
		for _, np := range [][2]int{{5000, 1}, {5000, 4}, {20011, 7}, {30000, 64}} {
			for _, clock := range []bool{false, true} {
				if clock && row.Name != "BOLD" {
					continue
				}
				key := fmt.Sprintf("%s n=%d p=%d clock=%v", row.Name, np[0], np[1], clock)
				got[key] = append(replayed(t, row.Name, np[0], np[1], clock, false), replayed(t, row.Name, np[0], np[1], clock, true)...)
				if again := replayed(t, row.Name, np[0], np[1], clock, false); fmt.Sprint(again) != fmt.Sprint(got[key][:3]) {
					t.Errorf("%s: the same reports gave other chunks: %v, then %v", key, got[key][:3], again)
				}
				if !*update && fmt.Sprint(got[key]) != fmt.Sprint(want[key]) {
					t.Errorf("%s: %v, want %v", key, got[key], want[key])
				}
			}
		}
	}
	if *update {
		text, err := json.MarshalIndent(got, "", " ")
		if err == nil {
			err = os.WriteFile(file, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
