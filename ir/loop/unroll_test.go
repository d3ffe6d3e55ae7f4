package loop

import (
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestUnroll: loops that are written out give what they gave, and only those of few statements are.
func TestUnroll(t *testing.T) {
	for _, c := range []struct {
		rng      string
		most     int
		unrolled bool
	}{{"0..5", 100, true}, {"5..0 by -2", 100, true}, {"3..3", 100, true}, {"-2..9 by 3", 100, true}, {"0..50", 100, false}, {"0..%0.rows", 100, false}} {
		n, err := Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  local w0 i64[60, 1]
  v0 = f64 0
  v1 = i64 1
  v2, v3 = for q: `+c.rng+` (v4 = v0, v5 = v1) {
    v6 = index q
    v7 = for p: 0..2 (v8 = v5) {
      store w0[q+p+5, 0] v6
      v9 = add v8, v6
      next v9
    }
    v10 = load w0[q+6, 0]
    v11 = to_f64 v10
    v12 = add v4, v11
    next v12, v7
  }
  v13 = to_f64 v3
  v14 = add v13, v2
  store out0[i, 0] v14
} : (f64[%0.rows, 1])`, nil)
		if err != nil {
			t.Fatal(err)
		}
		u := Unroll(n, c.most)
		if got := !strings.Contains(u.String(), "for q"); got != c.unrolled {
			t.Errorf("%s is written out: %v", c.rng, got)
		}
		in := []value.Value{value.New(types.F64, 3, 1)}
		want, err := n.Eval(in, Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Eval(in, Env{})
		if err != nil || !value.Same(got[0], want[0]) {
			t.Errorf("%s: %v, %v, want %v", c.rng, got, err, want)
		}
	}
}

// TestRepeat: loops whose rounds are made several at a time give what they gave. Loops of few rounds
// stay, and those that go down, hold others, reduce, may be left early, or have rows or bounds of the
// lanes.
func TestRepeat(t *testing.T) {
	for _, c := range []struct {
		rng, more string
		repeated  bool
	}{
		{"0..50", "", true}, {"-2..%0.rows", "", true}, {"3..3", "", false}, {"0..51 by 3", "", true}, {"0..%0.rows by 2", "", true},
		{"50..0 by -1", "", false}, {"0..7", "", false}, {"i..40", "", false}, {"0..i", "", false},
		{"0..50", "v13 = load %0[q, i]", true}, {"0..50", "v13 = load %0[i, q]", false},
		{"0..50", "break v7", false}, {"0..50", "reduce out1[0, 0] v6", false}, {"0..50", "for p: 0..2 {\n}", false},
	} {
		if !strings.HasPrefix(c.more, "v13") {
			c.more += "\nv13 = f64 1"
		}
		n, err := Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  local w0 i64[80, 1]
  v0 = f64 0
  v1 = i64 100
  v2, v3 = for q: `+c.rng+` (v4 = v0, v5 = v1) {
    v6 = index q
    v7 = lt v1, v6
    v8 = load w0[q+6, 0]
    v9 = add v8, v6
    store w0[q+7, 0] v9
    v10 = to_f64 v9
    v11 = mul v4, v10
    v12 = add v11, v10
    `+c.more+`
    next v12, v9
  }
  v14 = to_f64 v3
  v15 = add v14, v2
  store out0[i, 0] v15
} : (f64[%0.rows, 1], sum i64[1, 1])`, nil)
		if err != nil {
			t.Fatal(c.rng, c.more, err)
		}
		in := []value.Value{value.New(types.F64, 53, 60)}
		want, err := n.Eval(in, Env{})
		if err != nil {
			t.Fatal(err)
		}
		for times := 1; times < 5; times++ {
			u := Repeat(n, 0, func(*Block) int { return times })
			if is := strings.Contains(u.String(), "for q1: "); is != (c.repeated && times > 1) {
				t.Errorf("%s %s: repeated: %v\n%s", c.rng, c.more, is, u)
			}
			got, err := u.Eval(in, Env{})
			if err != nil || !value.Same(got[0], want[0]) {
				t.Errorf("%s %s, %d times: %v, %v, want %v\n%s", c.rng, c.more, times, got, err, want, u)
			}
		}
	}
}

// TestUnrollOfAPoint: rounds that vectors evaluate stay a loop in a nest of one point. A round that
// reads what the one before has stored, and rounds that two vectors would leave mostly empty, are
// written out.
func TestUnrollOfAPoint(t *testing.T) {
	for _, c := range []struct {
		rounds, from string
		stays        bool
	}{{"1..20", "k", true}, {"1..20", "k-1", false}, {"1..6", "k", false}} {
		n, err := Parse(`
nest() () {
  local w0 f64[1, 20]
  v0 = f64 2
  for k: `+c.rounds+` {
    v1 = load w0[0, `+c.from+`]
    v2 = add v0, v1
    store w0[0, k] v2
  }
  v3 = load w0[0, 19]
  store out0[0, 0] v3
} : (f64[1, 1])`, Standard{})
		if err != nil {
			t.Fatal(err)
		}
		stays := false
		EachStmt(&Unroll(n, 160).Body, func(s *Stmt) { stays = stays || s.Code == For })
		if stays != c.stays {
			t.Errorf("%s, from %s: the loop stays = %v", c.rounds, c.from, stays)
		}
	}
}
