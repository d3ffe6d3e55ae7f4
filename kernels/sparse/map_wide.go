package sparse

// This file runs elementwise rows that have sparse arguments and a dense result, in pieces of some rows.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/window"
)

// wideLoop is a call of an elementwise row with sparse arguments and a dense result, in pieces of
// some rows.
type wideLoop struct {
	d  *op.Def
	c  *op.Call
	in []value.Value // sparse matrices of another shape than the result made dense
	by []mapWorker
}

func beginWideMap(d *op.Def, c *op.Call, full []bool, workers int) *wideLoop {
	l := &wideLoop{d: d, c: c, by: make([]mapWorker, workers), in: make([]value.Value, len(c.In))}
	for k, v := range c.In {
		l.in[k] = v
		if m, sparse := v.(*value.CSR); sparse && !full[k] {
			x := value.New(m.Elem, m.Rows, m.Cols)
			spread(x, m)
			l.in[k] = x
		}
	}
	return l
}

// wideSpace returns the index space of a call with a dense result of type t: its length, and the length of a
// leaf. A single leaf is a loop only where ranks share it.
func wideSpace(t types.Type) (n, leaf int) {
	if !t.Known() {
		return 0, 0
	}
	return t.Rows, max(1, window.LeafElements/max(t.Cols, 1))
}

func (l *wideLoop) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.args == nil {
		w.args, w.lists = make([]value.Value, len(l.in)), make([]value.Dense, len(l.in))
	}
	out := l.c.Result()
	step := max(1, mapPiece/max(out.Cols, 1))
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		for k, v := range l.in {
			w.args[k] = v
			d := &w.lists[k]
			switch x := v.(type) {
			case *value.CSR:
				relist(d, x.Elem, n*x.Cols)
				d.Rows, d.Cols, d.Stride = n, x.Cols, x.Cols
				spread(d, x.View(lo, n))
				w.args[k] = d
			case *value.Dense:
				if x.Rows > 1 {
					x.Window(d, lo, 0, n, x.Cols)
					w.args[k] = d
				}
			}
		}
		out.Window(&w.out, lo, 0, n, out.Cols)
		w.call = op.Call{Def: l.d, In: w.args, Type: w.out.Type(), Out: &w.out}
		if err := l.d.Kernel(&w.call); err != nil {
			return err
		}
	}
	return nil
}

func (l *wideLoop) End() error { return nil }
