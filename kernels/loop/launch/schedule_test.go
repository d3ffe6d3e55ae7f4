package launch

import (
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestStreams: results that no cache holds are stored past the caches, unless their memory is that
// of an operand, or many of their lines would be written in parts.
func TestStreams(t *testing.T) {
	n := &loop.Nest{Results: []loop.Result{{Elem: types.F64, Over: -1}}}
	size := func(rows, cols int) []*value.Dense {
		return []*value.Dense{{Elem: types.F64, Rows: rows, Cols: cols, Stride: cols}}
	}
	l := New(n)
	for _, c := range []struct {
		rows, cols int
		wide       bool
		want       layout
	}{
		{4095, 1024, false, 0}, {4096, 1024, false, streamed}, {200000, 24, false, streamed}, {300000, 20, false, 0},
		{300000, 20, true, streamed}, {10000, 1001, false, 0}, {3000, 2049, false, streamed}, {1, 5000001, false, streamed},
	} {
		if got := l.streams(&Run{}, size(c.rows, c.cols), c.wide); got != c.want {
			t.Errorf("%d x %d, in one row %v: %d, want %d", c.rows, c.cols, c.wide, got, c.want)
		}
	}
	gap := size(200000, 24)
	if gap[0].Stride = 25; l.streams(&Run{}, gap, false) != 0 {
		t.Error("a result whose rows begin between lines is stored past the caches")
	}
	if New(n).streams(&Run{Past: true}, size(1, 1024), false) != streamed {
		t.Error("a part of a large result is not stored past the caches")
	}
	if l.streams(&Run{Overwrites: true}, size(4096, 1024), false) != 0 {
		t.Error("a result that may lie in the memory of an operand is stored past the caches")
	}
	n.Results[0].Over = 0
	if l.streams(&Run{}, size(4096, 1024), false) != 0 {
		t.Error("a result in the memory of an operand is stored past the caches")
	}
}

// TestFetching: loads prefetch if an operand is large, on processors that need it.
func TestFetching(t *testing.T) {
	defer func(was bool) { fetches = was }(fetches)
	small, large := value.New(types.F64, 1023, 512), value.New(types.F64, 1024, 512)
	for _, c := range []struct {
		fetches bool
		in      []value.Value
		want    layout
	}{
		{true, []value.Value{value.F64(1), small}, 0}, {true, []value.Value{small, large}, fetched}, {false, []value.Value{large}, 0},
	} {
		if fetches = c.fetches; fetching(c.in) != c.want {
			t.Errorf("%v: %d, want %d", c, fetching(c.in), c.want)
		}
	}
}
