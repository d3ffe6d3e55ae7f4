package launch

import (
	"slices"
	"strings"
	"testing"
)

// TestChosen: the fastest target unless the environment names another one that is there.
func TestChosen(t *testing.T) {
	have := []string{"avx2", Interp}
	for name, want := range map[string]string{"": "avx2", "avx2": "avx2", Interp: Interp, "avx512": "", "AVX2": ""} {
		got, err := chosen(name, have)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q gives %q, %v", name, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), Variable+"="+name) || !strings.Contains(err.Error(), "avx2, interp")) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if list := Targets(); list[len(list)-1] != Interp || slices.Contains(list, "avx512") && !slices.Contains(list, "avx2") {
		t.Errorf("this machine has %v", list)
	}
}
