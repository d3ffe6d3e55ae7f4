package machine

import (
	"slices"
	"testing"
)

// TestKernels writes every kernel for every set that has it: registers are enough, labels have a
// place, and the code fits a call of some microseconds.
func TestKernels(t *testing.T) {
	names := map[string]bool{}
	for _, k := range all {
		if names[k.name] {
			t.Errorf("two kernels are named %s", k.name)
		}
		names[k.name] = true
		for s := range sets {
			if len(k.only) > 0 && !slices.Contains(k.only, s) {
				continue
			}
			if text, err := k.text(s); err != nil || len(text) == 0 {
				t.Errorf("%s, %s: %d bytes, %v", k.name, target(s), len(text), err)
			}
		}
	}
	if len(all) < 40 {
		t.Errorf("%d kernels", len(all))
	}
}
