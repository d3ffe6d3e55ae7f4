package encode

// This file runs bin as loops: the interval of an element is guessed, where edges lie about evenly,
// and corrected by the edges on both sides, or it is found by halving.

import (
	"math"
	"math/bits"
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// binSteps is how many steps an element of bin counts for: see launch.Steps.
const binSteps = 8

// binKey is what the loop of a bin depends on.
type binKey struct {
	elem   types.Elem
	right  bool
	even   bool // by a number of intervals of equal width
	rounds int  // of halving; 0: the interval is guessed
}

// binner runs bin as nests. It is safe for concurrent use.
type binner struct {
	seen launch.Steps
	mu   sync.Mutex
	made map[binKey]*launch.Loop
}

// worth reports that enough work has been seen for machine code.
func (s *binner) worth(x *value.Dense) bool {
	return s.seen.Pay(binSteps * int64(x.Rows) * int64(x.Cols))
}

// run bins x with these operands behind it. It reports whether a target runs the loop.
func (s *binner) run(k binKey, out, x *value.Dense, operands ...value.Value) bool {
	if x.Rows == 0 || x.Cols == 0 {
		return true
	}
	s.mu.Lock()
	l := s.made[k]
	if l == nil {
		if s.made == nil {
			s.made = map[binKey]*launch.Loop{}
		}
		l = launch.New(binNest(k))
		s.made[k] = l
	}
	s.mu.Unlock()
	r, err := l.Begin(append([]value.Value{x}, operands...), []*value.Dense{out})
	if err != nil {
		return false
	}
	w := r.Worker()
	defer w.Free()
	if _, err := w.Window(0, x.Rows, 0, x.Cols, nil); err != nil {
		panic("BUG: " + err.Error())
	}
	launch.Begun.Add(1)
	return true
}

// binNest writes the nest of a bin. Its operands are the elements, then
//
//	of equal intervals: where they begin, how wide they are together, how many there are
//	else: the edges between two nans, and for a guess the first edge, the intervals in a unit, the number of edges
func binNest(k binKey) *loop.Nest {
	b := loop.New()
	x := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, dense.Storage(k.elem))}
	rows, cols := loop.Of(loop.RowsSym, x.N), loop.Of(loop.ColsSym, x.N)
	scalar := func() loop.Val {
		return b.Load(loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.ScalarParam, types.F64)})
	}
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: rows, By: 1}))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	v := define.ConvertBody(b, types.F64, b.Load(x, i, j))
	one, none := define.Numeral(b, types.I64, 1), define.Numeral(b, types.I64, -1)
	// within is f within two bounds, and the upper one for a nan.
	within := func(f, lo, hi loop.Val) loop.Val {
		f = b.Op(loop.Select, b.Op(loop.Lt, f, hi), f, hi)
		return b.Op(loop.Select, b.Op(loop.Lt, lo, f), f, lo)
	}
	float := func(n int) loop.Val { return define.Numeral(b, types.F64, n) }
	var n loop.Val
	if k.even {
		lo, width, many := scalar(), scalar(), scalar()
		p := b.Op(loop.Mul, b.Op(loop.Div, b.Op(loop.Sub, v, lo), width), many)
		if k.right {
			p = b.Op(loop.Sub, b.Op(loop.Ceil, p), float(1))
		}
		n = b.Op(loop.ToI64, within(p, float(0), b.Op(loop.Sub, many, float(1))))
	} else {
		edges := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
		edge := func(n loop.Val) loop.Val { return b.Load(edges, loop.Of(loop.ValSym, int(n)), loop.Num(0)) }
		// below reports that an edge counts for the element.
		below := func(e loop.Val) loop.Val {
			if k.right {
				return b.Op(loop.Lt, e, v)
			}
			return b.Op(loop.Le, e, v)
		}
		if k.rounds > 0 {
			n = define.Numeral(b, types.I64, 0)
			for r := k.rounds - 1; r >= 0; r-- {
				next := b.Op(loop.Add, n, define.Numeral(b, types.I64, 1<<r))
				n = b.Op(loop.Select, below(edge(next)), next, n)
			}
		} else {
			first, unit, many := scalar(), scalar(), scalar()
			g := b.Op(loop.Floor, b.Op(loop.Mul, b.Op(loop.Sub, v, first), unit))
			guess := b.Op(loop.Add, b.Op(loop.ToI64, within(g, float(-1), b.Op(loop.Sub, many, float(1)))), one)
			next := b.Op(loop.Add, guess, one)
			at := edge(guess)
			above := b.Op(loop.Lt, v, at)
			if k.right {
				above = b.Op(loop.Le, v, at)
			}
			n = b.Op(loop.Select, below(edge(next)), next, b.Op(loop.Select, above, b.Op(loop.Add, guess, none), guess))
		}
	}
	n = b.Op(loop.Select, b.Op(loop.Ne, v, v), none, n)
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(types.I64, rows, cols)}, i, j, n)
	return b.Done()
}

// edgeList has the edges of an execution of bin. It is safe for concurrent use.
type edgeList struct {
	edges    []float64
	once     sync.Once
	operands []value.Value // what loops read of the edges, made when the first loop runs; nil: there is no edge
	rounds   int           // of bisection; 0: the interval is guessed
}

// prepare sets operands and rounds.
func (l *edgeList) prepare() {
	k := len(l.edges)
	if first, unit, ok := guessed(l.edges); ok {
		l.operands = []value.Value{padded(l.edges, k+2), value.F64(first), value.F64(unit), value.F64(float64(k))}
		return
	}
	if l.rounds = bits.Len(uint(k)); l.rounds > 0 {
		l.operands = []value.Value{padded(l.edges, 1<<l.rounds)}
	}
}

// byEdges bins x by ascending edges. It reports false if there are no edges or no loop.
func (s *binner) byEdges(out, x *value.Dense, l *edgeList, right bool) bool {
	l.once.Do(l.prepare)
	return l.operands != nil && s.run(binKey{elem: x.Elem, right: right, rounds: l.rounds}, out, x, l.operands...)
}

// padded is a column of n elements with a nan before and nans behind the edges.
func padded(edges []float64, n int) *value.Dense {
	d := value.New(types.F64, n, 1)
	for i := range d.F64 {
		d.F64[i] = math.NaN()
	}
	copy(d.F64[1:], edges)
	return d
}

// guessed is how a number of edges not above an element is guessed: 1 + floor((v - first) unit),
// between 0 and their number. ok says that no guess is off by more than one: a guess ascends with
// the element, so that the edges at the ends of an interval show it.
func guessed(edges []float64) (first, unit float64, ok bool) {
	k := len(edges)
	if k < 4 {
		return 0, 0, false
	}
	first = edges[0]
	if unit = float64(k-1) / (edges[k-1] - first); !(unit > 0) || math.IsInf(unit, 0) || math.IsInf(first, 0) {
		return 0, 0, false
	}
	for n, e := range edges {
		g := math.Floor(float64(e-first) * unit)
		guess := int(max(-1, min(g, float64(k-1)))) + 1
		// Above the edge n + 1 edges count, below it n.
		if guess < n || guess > n+1 {
			return 0, 0, false
		}
	}
	return first, unit, true
}
