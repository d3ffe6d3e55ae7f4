package amd64

import (
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop/looptest"
)

// TestListing demands that a listing has every byte of the code up to its end, knows every
// instruction, and has a label wherever a jump leads.
func TestListing(t *testing.T) {
	line := regexp.MustCompile(`^  ([0-9a-f]{4})  (.*)$`)
	jump := regexp.MustCompile(`^J[A-Z]+ (L[0-9a-f]{4})$`)
	label := regexp.MustCompile(`^(L[0-9a-f]{4}):$`)
	for seed := range uint64(40) {
		n := looptest.Draw(seed).Nest
		for _, target := range []Target{AVX512, AVX2} {
			list, err := List(target, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), Schedule{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			labels, wanted := map[string]bool{}, map[string]bool{}
			last := ""
			for _, l := range strings.Split(list.Text, "\n") {
				if m := label.FindStringSubmatch(l); m != nil {
					labels[m[1]] = true
				}
				m := line.FindStringSubmatch(l)
				if m == nil {
					continue
				}
				last = m[2]
				if strings.HasPrefix(last, "BYTE") {
					t.Errorf("seed %d, %s: an unknown instruction at %s", seed, target, m[1])
				}
				if j := jump.FindStringSubmatch(last); j != nil {
					wanted[j[1]] = true
				}
			}
			if last != "RET" {
				t.Errorf("seed %d, %s: ends with %q", seed, target, last)
			}
			for l := range wanted {
				if !labels[l] {
					t.Errorf("seed %d, %s: no label %s", seed, target, l)
				}
			}
		}
	}
}
