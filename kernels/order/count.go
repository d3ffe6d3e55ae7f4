package order

// This file finds the keys at some places of sorted lists whose rows ranks share (op.Selection). It
// neither sorts nor moves the lists: it finds a key digit by digit, the highest first. select.count
// counts, for each value of the next digit, the keys that begin with the digits found so far.
// select.narrow chooses the digit from these counts. After some digits, select.keep copies the few keys
// that still agree.

import (
	"cmp"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

// selects is the rows of this file.
func selects() []*op.Def {
	found := op.Arg{Name: "found", Rest: true, Doc: "what select.narrow made of the digits before"}
	shift := op.Arg{Name: "shift", Attr: true, Kind: op.IntVal, Doc: "bits below the digit"}
	columns := op.Arg{Name: "columns", Attr: true, Kind: op.BoolVal, Doc: "each column is a list"}
	places := op.Arg{Name: "places", Attr: true, Kind: op.IntsVal, Doc: "in each list"}
	rows := []*op.Def{
		{
			Name: "select.count", Hidden: true,
			Doc: "select.count counts a digit of the keys of each list that have the digits found for a place; a row for each place of each list.",
			Args: []op.Arg{{Name: "x", Doc: "n x m, or what select.keep made"}, found, places, shift, columns,
				{Name: "bits", Attr: true, Kind: op.IntVal, Doc: "of the digit"},
				{Name: "lists", Attr: true, Kind: op.IntVal, Doc: "number of lists"},
				{Name: "kept", Attr: true, Kind: op.BoolVal, Doc: "x is what select.keep made"}},
			Type: func(s *op.Sig) (types.Type, error) {
				if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
					return s.In[0], op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
				}
				return types.DenseOf(types.F64, s.Attrs.Int("lists")*len(s.Attrs.Ints("places")), 1<<s.Attrs.Int("bits")), nil
			},
			Laws:   op.Pure,
			Cost:   func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 4) },
			Kernel: countKernel, Loop: countLoop,
		},
		{
			Name: "select.keep", Hidden: true,
			Doc:    "select.keep lists the keys of each list, and its number, that have the digits found for a place.",
			Args:   []op.Arg{{Name: "x", Doc: "n x m"}, found, places, shift, columns},
			Type:   func(s *op.Sig) (types.Type, error) { return types.DenseOf(types.I64, types.Unknown, 2), nil },
			Laws:   op.Pure,
			Cost:   func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 4) },
			Kernel: countKernel, Loop: countLoop,
		},
		{
			Name: "select.narrow", Hidden: true,
			Doc:    "select.narrow is, for each place, the digits of its key so far, and how many of the keys with these digits come before it.",
			Args:   []op.Arg{{Name: "counts"}, found, places},
			Type:   func(s *op.Sig) (types.Type, error) { return types.DenseOf(types.I64, s.In[0].Rows, 2), nil },
			Laws:   op.Pure,
			Cost:   func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) },
			Kernel: func(c *op.Call) error { c.Result().CopyFrom(narrowed(c)); return nil },
		},
	}
	for _, d := range rows {
		define.ByKernel(d)
	}
	return rows
}

func narrowed(c *op.Call) *value.Dense {
	counts, out, places := c.Dense(0), value.New(types.I64, c.Type.Rows, 2), c.Attrs.Ints("places")
	for t := range out.Rows {
		key, before := int64(0), places[t%len(places)]
		if len(c.In) > 1 {
			key, before = c.Dense(1).At(t, 0).I, c.Dense(1).At(t, 1).I
		}
		d := 0
		for ; d < counts.Cols-1 && before >= int64(counts.At(t, d).F); d++ {
			before -= int64(counts.At(t, d).F)
		}
		out.Set(t, 0, value.I64(key*int64(counts.Cols)+int64(d)))
		out.Set(t, 1, value.I64(before))
	}
	return out
}

// countLoop is the Loop of select.count and select.keep.
var countLoop = &op.Loop{
	Rows: func(s *op.Sig, _ types.Type) int { return s.In[0].Rows },
	Space: func(c *op.Call) (n, leaf int) {
		t := c.In[0].Type()
		if c.Attrs.Bool("kept") {
			return 0, 0
		}
		return t.Rows, max(1, window.LeafElements/max(1, t.Cols))
	},
	Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginCount(c, workers), nil },
}

func countKernel(c *op.Call) error {
	l := beginCount(c, 1)
	if err := l.Chunk(0, 0, c.Dense(0).Rows); err != nil {
		return err
	}
	return l.End()
}

// countBody is one execution of select.count, or of select.keep, which has no digit. Places of a list
// whose keys have the same digits so far share their counts.
type countBody struct {
	c     *op.Call
	x     *value.Dense
	shift int
	bits  int
	per   int        // places of a list
	lists [][]wanted // by list
	by    []countWorker
}

// wanted is the digits that a place has found, and the first place of its list with these digits.
type wanted struct {
	key uint64
	at  int
}

type countWorker struct {
	count      [][]int // by place and digit; nil until the worker's first chunk
	kept       []keptPart
	block, has [selectBlock]uint64 // keys, and those of them with the digits of a place
	_          [64]byte
}

// keptPart is the keys that a chunk keeps of a list. End sorts the parts by list and first row.
type keptPart struct {
	list, row int
	keys      []uint64
}

func beginCount(c *op.Call, workers int) *countBody {
	l := &countBody{c: c, x: c.Dense(0), shift: c.Attrs.Int("shift"), bits: c.Attrs.Int("bits"), per: len(c.Attrs.Ints("places")), by: make([]countWorker, workers)}
	lists := 1
	if c.Attrs.Bool("columns") {
		lists = l.x.Cols
	}
	if l.bits > 0 {
		lists = c.Type.Rows / l.per
	}
	l.lists = make([][]wanted, lists)
	for t := range lists * l.per {
		list := &l.lists[t/l.per]
		if key := l.found(t); l.first(t) < 0 {
			*list = append(*list, wanted{key, t})
		}
	}
	return l
}

// found returns the digits of place t so far.
func (l *countBody) found(t int) uint64 {
	if len(l.c.In) < 2 {
		return 0
	}
	return uint64(l.c.Dense(1).At(t, 0).I)
}

// first returns the first place of the list of place t that has the same digits; -1: none so far.
func (l *countBody) first(t int) int {
	for _, w := range l.lists[t/l.per] {
		if w.key == l.found(t) {
			return w.at
		}
	}
	return -1
}

// Chunk goes over rows lo..hi-1.
func (l *countBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.count == nil && l.bits > 0 {
		w.count = make([][]int, len(l.lists)*l.per)
		for _, list := range l.lists {
			for _, p := range list {
				w.count[p.at] = make([]int, 1<<l.bits)
			}
		}
	}
	switch {
	case l.c.Attrs.Bool("kept"):
		for i := lo; i < hi; i++ {
			at := i * l.x.Stride
			w.block[0] = uint64(l.x.I64[at])
			l.keys(w, l.lists[l.x.I64[at+1]], w.block[:1], nil)
		}
	case l.c.Attrs.Bool("columns"):
		for j := range l.x.Cols {
			l.part(w, j, lo, l.x.View(lo, j, hi-lo, 1))
		}
	default:
		l.part(w, 0, lo, l.x.View(lo, 0, hi-lo, l.x.Cols))
	}
	return nil
}

// part goes over the elements of a part of a list.
func (l *countBody) part(w *countWorker, list, row int, x *value.Dense) {
	kept := keptPart{list: list, row: row}
	n := x.Rows * x.Cols
	for at := 0; at < n; at += selectBlock {
		keys := w.block[:min(selectBlock, n-at)]
		ElementKeys(keys, x, at)
		l.keys(w, l.lists[list], keys, &kept)
	}
	if len(kept.keys) > 0 {
		w.kept = append(w.kept, kept)
	}
}

// keys counts keys of a list, or keeps them.
func (l *countBody) keys(w *countWorker, list []wanted, keys []uint64, kept *keptPart) {
	above := l.shift + l.bits
	if l.bits == 0 { // few keys have the digits, so the branch is guessed right
		for _, k := range keys {
			if slices.ContainsFunc(list, func(p wanted) bool { return p.key == k>>above }) {
				kept.keys = append(kept.keys, k)
			}
		}
		return
	}
	for _, p := range list {
		count, with := w.count[p.at], keys
		if above < 64 {
			with = withDigits(w.has[:], keys, above, p.key)
		}
		mask := uint64(len(count) - 1)
		for _, k := range with {
			count[k>>l.shift&mask]++
		}
	}
}

// withDigits copies to has the keys whose bits from bit number above on are digits. It returns the
// copies. A branch would often be guessed wrong: counting the second digit took four times as long as
// the first.
func withDigits(has, keys []uint64, above int, digits uint64) []uint64 {
	n := 0
	for _, k := range keys {
		other := k>>above ^ digits
		has[n] = k
		n += 1 - int((other|-other)>>63)
	}
	return has[:n]
}

// End joins what workers have counted, or kept.
func (l *countBody) End() error {
	if l.bits == 0 {
		var parts []keptPart
		for i := range l.by {
			parts = append(parts, l.by[i].kept...)
		}
		slices.SortFunc(parts, func(a, b keptPart) int { return cmp.Or(a.list-b.list, a.row-b.row) })
		var pairs []uint64
		for _, p := range parts {
			for _, k := range p.keys {
				pairs = append(pairs, k, uint64(p.list))
			}
		}
		out := value.New(types.I64, len(pairs)/2, 2) // a key and the number of its list
		for i, k := range pairs {
			out.I64[i] = int64(k)
		}
		l.c.Out = out
		return nil
	}
	out := l.c.Result()
	for t := range out.Rows {
		at := l.first(t)
		row := out.F64[t*out.Stride:][:out.Cols]
		clear(row)
		for i := range l.by {
			if l.by[i].count != nil {
				for d, n := range l.by[i].count[at] {
					row[d] += float64(n)
				}
			}
		}
	}
	return nil
}
