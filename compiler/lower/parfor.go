package lower

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates `parfor i in a..b { e }`: one node, whose body is elaborated once, for an
// unknown index. The body's arguments are the indices, then what it captures. The node's inputs are
// the bounds that only the run knows (a lower and an upper one for each index, if any), then what
// is captured. Attribute `through` is 1 for each index whose upper bound is included, since one
// more may be no i64.

// extent is the range of one index: first + k step for k = 0 .. count-1.
type extent struct {
	lo, hi    val
	step      int
	count     int // types.Unknown if a bound is known only in the run
	inclusive bool
}

func (l *lowerer) parfor(e *ast.Parfor) val {
	if len(e.Ranges) > 2 {
		l.fail(source.Errorf("E419", e.Ranges[2].Span(), "parfor has one or two indices, this has %d", len(e.Ranges)).
			WithHelp("its value is a column or a matrix; join indices: k in 0..p * q"))
	}
	hints := l.parforHints(e.With)
	for _, r := range e.Ranges {
		if r.Name == nil || r.Hi == nil {
			l.fail(source.Errorf("E416", r.Span(), "the range of a parfor is `i in a..b`").
				WithHelp("its indices are numbers: `parfor i in 0..n { .. xs[i, 0] .. }` reads a column"))
		}
	}
	if dependent(e) {
		return l.overPairs(e, hints)
	}
	var space []extent
	var names []string
	for _, r := range e.Ranges {
		space, names = append(space, l.extent(r)), append(names, r.Name.Name)
	}
	r, v := l.points(func(r *region) ir.ID {
		for _, x := range e.Ranges {
			l.declare(*x.Name, l.edgeVal(l.carry(r, types.ScalarOf(types.I64))))
		}
		return l.body(e)
	})
	t := l.collected(e, space, r.g.Type(v))
	if !t.Possible() {
		l.failf("E216", e.Span(), "the result is %v: a matrix has fewer than 2^60 rows, columns and elements", t)
	}
	return l.edgeVal(l.loopNode(e, names, space, hints, r, v, t))
}

// loopNode makes the node of a parfor over the index space with body r, its value v, and the result
// type t. names are those of the indices.
func (l *lowerer) loopNode(e *ast.Parfor, names []string, space []extent, hints []op.Attr, r *region, v ir.ID, t types.Type) ir.ID {
	body, captured := trimmed(r, v)

	var lo, by, n, through []int
	included := false
	var in []ir.ID
	dynamic := false
	for i, x := range space {
		lo, by, n = append(lo, 0), append(by, x.step), append(n, x.count)
		if x.lo.kind == konst {
			lo[i] = int(x.lo.s.I)
		}
		dynamic = dynamic || x.count == types.Unknown
	}
	attrs := append(hints, op.Attr{Name: "by", Val: op.Ints(by...)}, op.Attr{Name: "names", Val: op.Str(strings.Join(names, " "))})
	if dynamic {
		for i, x := range space {
			in = append(in, l.toEdge(x.lo, e.Ranges[i].Span()), l.toEdge(x.hi, e.Ranges[i].Span()))
			through = append(through, 0)
			if x.inclusive {
				through[i], included = 1, true
			}
		}
		if included {
			attrs = append(attrs, op.Attr{Name: "through", Val: op.Ints(through...)})
		}
	} else {
		attrs = append(attrs, op.Attr{Name: "lo", Val: op.Ints(lo...)}, op.Attr{Name: "n", Val: op.Ints(n...)})
	}
	id := l.g.Add(l.table.Must("parfor"), op.MakeAttrs(attrs...), t, l.origin(e.Span()), append(in, captured...)...)
	l.g.Nodes[id].Region = body
	return id
}

// extent elaborates a range's bounds.
func (l *lowerer) extent(r ast.Range) extent {
	x := extent{lo: l.integer(r.Lo, "E215", "a loop bound"), hi: l.integer(r.Hi, "E215", "a loop bound"), step: l.step(r.By), inclusive: r.Inclusive}
	if x.lo.kind != konst || x.hi.kind != konst {
		x.count = types.Unknown
		return x
	}
	n := steps(x.lo.s.I, x.hi.s.I, int64(x.step), r.Inclusive)
	if n > types.MaxSide {
		l.failf("E216", r.Span(), "the range has %s values: a parfor has fewer than 2^60", many(n))
	}
	x.count = int(n)
	return x
}

// step elaborates the step of a range. It is 1 if the program writes none: by is nil then.
func (l *lowerer) step(by ast.Expr) int {
	if by == nil {
		return 1
	}
	n := l.intArg(by, "the step")
	if n == 0 {
		l.fail(source.Errorf("E417", by.Span(), "the step is 0").WithHelp("write `1` to count up, -1 to count down"))
	}
	return n
}

// many formats n, where the greatest uint64 means at least that.
func many(n uint64) string {
	if n == math.MaxUint64 {
		return "2^64"
	}
	return strconv.FormatUint(n, 10)
}

// points elaborates the body of a parfor in a pure region of its own. write declares the names of the
// body and returns its value.
func (l *lowerer) points(write func(r *region) ir.ID) (r *region, value ir.ID) {
	outer := l.pure
	l.pure, r = true, l.newRegion()
	l.within(r, func() { value = write(r) })
	l.pure = outer
	return r, value
}

// body elaborates the block of a parfor.
func (l *lowerer) body(e *ast.Parfor) ir.ID {
	return l.toEdge(l.blockWhole(e.Body, true), e.Body.Span())
}

// collected returns the type of a parfor whose body has type t.
func (l *lowerer) collected(e *ast.Parfor, space []extent, t types.Type) types.Type {
	at := e.Body.Stmts[len(e.Body.Stmts)-1].Span()
	if t.IsScalar() && t.Elem.Size() == 0 {
		l.failf("L010", at, "a parfor that collects %v is not built yet: the value of its body is a number, a bool or a row of them", t)
	}
	switch {
	case len(space) == 2 && t.IsScalar():
		return types.DenseOf(t.Elem, space[0].count, space[1].count)
	case len(space) == 2:
		l.fail(source.Errorf("E419", at, "a parfor of two indices collects scalars, this is %v", t).
			WithHelp("a parfor of one index collects rows"))
	case t.IsScalar():
		return types.DenseOf(t.Elem, space[0].count, 1)
	case t.IsDense() && t.Rows == 1 && t.Cols >= 0:
		return types.DenseOf(t.Elem, space[0].count, t.Cols)
	case t.IsDense() && t.Cols == 1:
		l.fail(source.Errorf("E419", at, "the value of a parfor's body is a scalar or a row 1 x m, this is %v", t).WithHelp("t(..) makes a row of it"))
	case t.IsDense() && t.Rows == 1:
		l.fail(source.Errorf("E419", at, "the rows of a parfor are equally long; the length of this %v differs, or only the run tells it", t).
			WithHelp("reduce each row, sum(..), or make all as long as the longest, ifelse(t(seq(0, m)) < k, .., 0)"))
	}
	l.fail(source.Errorf("E419", at, "the value of a parfor's body is a scalar or a row 1 x m, this is %v", t).
		WithHelp("reshape(x, 1, n * m) makes a row of an n x m matrix"))
	return t
}

// trimmed returns the body of r, with value as its yield, without unneeded nodes and captures, and
// the remaining captured edges.
func trimmed(r *region, value ir.ID) (*ir.Region, []ir.ID) {
	keep := r.g.Needed(func(id ir.ID) bool { return id == value || r.g.Required(id) })
	args, captured := slices.Clone(r.own), []ir.ID(nil)
	for _, a := range args {
		keep[a] = true
	}
	for _, id := range r.caps {
		if a := r.arg[id]; keep[a] {
			args, captured = append(args, a), append(captured, id)
		}
	}
	return (&ir.Region{Graph: r.g, Args: args, Yields: []ir.ID{value}}).Compact(keep), captured
}
