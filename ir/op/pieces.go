package op

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// This file determines where the elements of a result come from, for rows that only move elements.

// Piece is a rectangle of a result that is a part of one operand, shifted and perhaps with steps:
// element (i, j) of the result is element (By*i + Down, Over*j + Right) of operand In, converted to
// the type of the result.
type Piece struct {
	Row, Col, Rows, Cols int
	In                   int
	Down, Right          int
	By, Over             int
}

// mostPieces is the most pieces of a result.
const mostPieces = 16

// Cut asks for a rectangle to be cut at row or column At of the index space, by Axis.
type Cut struct{ Axis, At int }

// Before decides whether a is below b in a rectangle of a space of two indices (symbols 0 and 1):
// rows lo[0]..hi[0], columns lo[1]..hi[1]. It panics with a Cut if the answer depends on the row
// alone or the column alone, and ok is false if it depends on more.
func Before(a, b loop.Lin, lo, hi [2]int) (below, ok bool) {
	d := a.Plus(b.Times(-1))
	if d.Known() {
		return d.Const < 0, true
	}
	if len(d.Terms) > 1 || d.Terms[0].Sym.Kind != loop.IndexSym || d.Terms[0].Sym.N > 1 {
		return false, false
	}
	axis, c := d.Terms[0].Sym.N, d.Terms[0].Coef
	first, last := d.Const+c*int64(lo[axis]) < 0, d.Const+c*int64(hi[axis]-1) < 0
	if first == last {
		return first, true
	}
	// at is the first place with the other answer.
	at := (-d.Const + c - 1) / c
	if c < 0 {
		at = d.Const/-c + 1
	}
	panic(Cut{axis, int(at)})
}

// Pieces cuts the result of a call into rectangles, each taken from one operand in its order of
// rows and columns. ok is false for a row that does anything else. Sizes are known.
func (d *Def) Pieces(attrs *Attrs, in []types.Type, out types.Type) (list []Piece, ok bool) {
	if d.Elements == nil || out.Rows == 0 || out.Cols == 0 {
		return nil, false
	}
	todo := []Piece{{Rows: out.Rows, Cols: out.Cols}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		cut, ok := d.piece(attrs, in, out, &p)
		switch {
		case !ok || len(list)+len(todo) >= mostPieces:
			return nil, false
		case cut == nil:
			list = append(list, p)
			continue
		}
		a, b := p, p
		if cut.Axis == 0 {
			a.Rows = cut.At - p.Row
			b.Row, b.Rows = cut.At, p.Rows-a.Rows
		} else {
			a.Cols = cut.At - p.Col
			b.Col, b.Cols = cut.At, p.Cols-a.Cols
		}
		todo = append(todo, b, a)
	}
	return list, true
}

// NoElement is the panic of a row that has no element of its result for a loop.
type NoElement interface{ NoElement() string }

// notMoved is the panic of an element that is not an operand's.
type notMoved struct{}

func (notMoved) NoElement() string { return "an element that is computed" }

// piece sets the origin of p, or returns where it has to be cut.
func (d *Def) piece(attrs *Attrs, in []types.Type, out types.Type, p *Piece) (cut *Cut, ok bool) {
	b := loop.New()
	type source struct {
		in   int
		i, j loop.Lin
	}
	from := map[loop.Val]source{}
	lo, hi := [2]int{p.Row, p.Col}, [2]int{p.Row + p.Rows, p.Col + p.Cols}
	e := &Elements{B: b, Attrs: attrs, Out: out, Index: func(int, int, loop.Lin) loop.Lin { panic(notMoved{}) },
		Window: func(int, int, bool, loop.Lin) (from, size loop.Lin) { panic(notMoved{}) },
		Size:   func(loop.Lin, loop.Lin) {}, Agree: func(loop.Lin, loop.Lin) { panic(notMoved{}) },
		Chain: func(loop.Val, loop.Lin, func(loop.Lin) (x, y loop.Val)) loop.Val { panic(notMoved{}) },
		Pick:  func([]loop.Val, loop.Lin, loop.Lin) loop.Val { panic(notMoved{}) },
		Held:  func([]loop.Val) Element { panic(notMoved{}) }, Number: func(loop.Lin) loop.Val { panic(notMoved{}) },
		Laid: func(func(func(i, j loop.Lin, v loop.Val))) Element { panic(notMoved{}) },
		Fold: func(loop.Class, types.Elem, loop.Lin, loop.Lin, func(i, j loop.Lin) []loop.Val) loop.Val {
			panic(notMoved{})
		}}
	e.Below = func(x, y loop.Lin, then, other func() loop.Val) loop.Val {
		below, ok := Before(x, y, lo, hi)
		switch {
		case !ok:
			panic(notMoved{})
		case below:
			return then()
		}
		return other()
	}
	for k, t := range in {
		if !t.IsDense() {
			return nil, false
		}
		e.In = append(e.In, Source{Type: t, Rows: loop.Num(int64(t.Rows)), Cols: loop.Num(int64(t.Cols)), At: func(i, j loop.Lin) loop.Val {
			v := b.Const(stored(t.Elem), 0)
			from[v] = source{k, i, j}
			return v
		}})
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case Cut:
			cut, ok = &x, true
		case NoElement:
			cut, ok = nil, false
		default:
			panic(x)
		}
	}()
	row, col := loop.Of(loop.IndexSym, 0), loop.Of(loop.IndexSym, 1)
	at := d.Elements(e)
	if at == nil {
		return nil, false
	}
	s, moved := from[unconverted(b, func() loop.Val { return at(row, col) })]
	if !moved {
		return nil, false
	}
	by, down, ok := along(s.i, 0)
	over, right, also := along(s.j, 1)
	p.In, p.By, p.Down, p.Over, p.Right = s.in, by, down, over, right
	return nil, ok && also
}

// unconverted returns the value that f writes. If f converts it from a bool or an i64, unconverted
// returns the value before that.
func unconverted(b *loop.Builder, f func() loop.Val) loop.Val {
	mark := b.Mark()
	v := f()
	b.Since(mark, func(s *loop.Stmt) {
		if s.Dst == v && (s.Code == loop.ToF64 || s.Code == loop.ToI64) && !b.Type(s.Args[0]).IsFloat() {
			v = s.Args[0]
		}
	})
	return v
}

// along returns the by and the at with which x is by*index + at, for the index of an axis. ok is false
// if x has another form.
func along(x loop.Lin, axis int) (by, at int, ok bool) {
	if len(x.Terms) != 1 || x.Terms[0].Sym != (loop.Sym{Kind: loop.IndexSym, N: axis}) {
		return 0, 0, false
	}
	return int(x.Terms[0].Coef), int(x.Const), true
}

// stored returns the storage type of e, for which a loop has operations.
func stored(e types.Elem) types.Elem {
	if e == types.Time || e == types.Dur {
		return types.I64
	}
	return e
}
