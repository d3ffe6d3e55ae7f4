package amd64

import "testing"

// TestLocalsInRegisters: a local whose subscripts are constants, once short loops are written out,
// has no memory; one that is read at a place that the data choose has.
func TestLocalsInRegisters(t *testing.T) {
	for _, c := range []struct {
		at     string
		stores bool
	}{{"p", false}, {"v2", true}} {
		l := loweringOf(t, `
nest(%0: f64[], %1: i64[]) (i: 0..%0.rows) {
  local w0 f64[4, 2]
  for q: 0..4 {
    v0 = load %0[i, q]
    v1 = mul v0, v0
    store w0[q, 1] v1
  }
  v2 = load %1[i, 0]
  v3 = f64 9
  v4 = for p: 0..4 (v5 = v3) {
    v6 = load w0[`+map[bool]string{false: "p", true: "v2"}[c.stores]+`, 1]
    v7 = min v5, v6
    next v7
  }
  store out0[i, 0] v4
} : (f64[%0.rows, 1])`, Schedule{})
		n := 0
		for _, s := range l.steps {
			if s.local != 0 {
				n++
			}
		}
		if (n > 0) != c.stores {
			t.Errorf("%d steps store to a local that is loaded at %s", n, c.at)
		}
	}
}
