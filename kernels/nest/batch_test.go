package nest

import (
	"testing"

	"flow/ir/loop"
	"flow/kernels/loop/launch"
	"flow/kernels/window"
)

// TestOutweigh: rounds in one call copy the carried matrices once. They pay for it if the stages of
// all rounds take longer. The cost of stages does not include elements that they leave in place.
func TestOutweigh(t *testing.T) {
	for _, c := range []struct {
		name         string
		apart        float64
		laid, rounds int64
		pays         bool
	}{
		{"a row of 300 in each of 300 rounds", 1400, 90_600, 300, true},
		{"the same, in 100 rounds", 1400, 90_600, 100, false},
		{"two rows that stages copy all others of", 563_000, 2_250_000, 1499, true},
		{"an element of many in few rounds", 749, 1 << 24, 1000, false},
		{"an element of many in many rounds", 749, 1 << 24, 100_000, true},
	} {
		b := &batchCode{apart: c.apart, laid: c.laid}
		if got := b.outweigh(c.rounds); got != c.pays {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestWorkOfVectors: as many points as a vector of the target has lanes take as long as one point.
func TestWorkOfVectors(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[], %1: i64) () {
  v0 = f64 0
  v1 = for r: 0..%1 (v2 = v0) {
    v3 = load %0[r, 0]
    v4 = add v2, v3
    next v4
  }
  store out0[0, 0] v1
} : (f64[1, 1])`, nil)
	if err != nil {
		t.Fatal(err)
	}
	work := func(points int) float64 { return (&batchForm{loop: launch.New(n), points: points}).work() }
	lanes := launch.Lanes()
	if one, two := work(lanes), work(lanes+1); one <= 0 || work(2) != one || two != 2*one {
		t.Errorf("%d points take %v operations, and one more %v", lanes, one, two)
	}
}

// TestPlaceSize: the places that a round changes are counted from bounds that differ by a number, and
// taken as half of the rectangle otherwise.
func TestPlaceSize(t *testing.T) {
	k := loop.Of(loop.ParamSym, 7)
	rect := func(least, most []loop.Lin) float64 {
		r := SpaceRect{Rect: window.Rect{Rows: 30, Cols: 8}, place: &inPlace{}}
		p := r.place
		p.least, p.most = [2][]loop.Lin{append(least, loop.Num(0)), {loop.Num(0)}}, [2][]loop.Lin{append(most, loop.Num(30)), {loop.Num(8)}}
		return p.size()
	}
	for _, c := range []struct {
		name        string
		least, most []loop.Lin
		size        float64
	}{
		{"all", nil, nil, 240},
		{"row k", []loop.Lin{k}, []loop.Lin{k.Plus(loop.Num(1))}, 8},
		{"rows k and k + 1", []loop.Lin{k}, []loop.Lin{k.Plus(loop.Num(2))}, 16},
		{"rows from k on", []loop.Lin{k}, nil, 120},
		{"rows before 5", nil, []loop.Lin{loop.Num(5)}, 40},
	} {
		if got := rect(c.least, c.most); got != c.size {
			t.Errorf("%s: %v elements, want %v", c.name, got, c.size)
		}
	}
}
