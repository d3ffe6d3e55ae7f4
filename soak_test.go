package flow

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// This file repeats the oracle for FLOW_SOAK seconds (make soak), with other passes left out in
// every round: what seldom happens must not happen at all.

func TestSoakSameBytes(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("FLOW_SOAK"))
	if err != nil {
		t.Skip("FLOW_SOAK is not set to a number of seconds")
	}
	stop := time.Now().Add(time.Duration(seconds) * time.Second)
	first := map[string]string{}
	rounds := uint64(0)
	for ; time.Now().Before(stop) && !t.Failed(); rounds++ {
		for name, sets := range exampleSets {
			text, err := os.ReadFile(filepath.Join("examples", name))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range sets {
				key := name + strconv.Itoa(i)
				out := everywhere(t, name, text, s, engines(1000+rounds))
				if want, seen := first[key]; seen && out != want {
					t.Errorf("%s in round %d:\n%swant, as in the first:\n%s", key, rounds, out, want)
				}
				first[key] = out
			}
		}
	}
	t.Logf("%d rounds", rounds)
}
