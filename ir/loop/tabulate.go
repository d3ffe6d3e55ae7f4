package loop

// This file takes out of a nest what many of its points compute alike: values that cost much and
// depend on few indices become tables, which nests of their own make before.

import (
	"fmt"
	"math/bits"
	"slices"

	"flow/ir/types"
)

// Tabulated is a table of values that depend on the same indices: an operand of the nest that reads it,
// made by a nest of its own.
type Tabulated struct {
	// Nest has the operands of the original nest and makes the table.
	Nest *Nest
	// Rows and Cols are the size of the table. Values is how many values it has of each pair of indices,
	// one in each row: the rows of one index lie together.
	Rows, Cols Lin
	Values     int
	// Rounds are the rounds of the inner loops that the table depends on: a point computes the
	// value as often as their product, at most.
	Rounds []Lin
}

const (
	// mostPairs is how many values that depend on two indices have tables at most, and mostSingle how many
	// that depend on one. A body in which a loop of w rounds is written out has a value a round.
	mostPairs, mostSingle = 4, 256
	// tableCost is from how many statements on a value is worth a table. To read an element takes
	// some five instructions.
	tableCost = 24
)

// Tabulate is n with tables in place of values that follow from constants, from operands for which
// steady holds, and from one or two indices, but not from all indices of the space. Table k is
// operand len(n.Params) + k. Elements of operands that are not steady change while the nest runs;
// their sizes do not.
//
// A table has a value for every round of a loop, also for rounds that no point makes: a value that
// might fail has none. The tables are made before the first point, so a nest that few points
// evaluate is faster without.
func Tabulate(n *Nest, steady func(param int) bool) (*Nest, []Tabulated) {
	return tabulate(n, steady, tableCost)
}

// tabulate is Tabulate of values from so many statements on.
func tabulate(n *Nest, steady func(param int) bool, least int) (*Nest, []Tabulated) {
	t := &tabulator{from: n, steady: steady, least: least, made: make([]*Stmt, len(n.Types)), deps: make([]uint64, len(n.Types)), carried: map[Val]*recurrence{}}
	EachStmt(&n.Body, func(s *Stmt) {
		if s.N == 1 {
			t.made[s.Dst] = s
		}
	})
	for _, x := range n.Space {
		if _, ok := t.open(x); !ok {
			return n, nil
		}
	}
	t.space = len(n.Space)
	t.depend(&n.Body)
	t.roots(&n.Body)
	if len(t.root) == 0 {
		return n, nil
	}
	for _, v := range t.root {
		l := t.lineOf(v)
		k := slices.IndexFunc(t.groups, func(g group) bool {
			return t.deps[g.list[0]] == t.deps[v] && n.Types[g.list[0]] == n.Types[v] && g.line == l
		})
		if k < 0 {
			k, t.groups = len(t.groups), append(t.groups, group{line: l})
		}
		t.groups[k].list = append(t.groups[k].list, v)
	}
	var list []Tabulated
	for _, g := range t.groups {
		list = append(list, t.table(g))
	}
	return t.reading(), list
}

type tabulator struct {
	from   *Nest
	steady func(param int) bool
	least  int      // see tableCost
	made   []*Stmt  // by value; nil: carried, or one of several results
	deps   []uint64 // by value: the indices that it depends on, a bit each; varies: it has no table
	index  []Index  // by bit
	space  int      // how many of them are indices of the space
	// carried are the carried values that change by the same step in every round.
	carried map[Val]*recurrence
	root    []Val   // the values that have tables
	groups  []group // those of each table
	few     [3]int  // how many depend on one index, and on two
}

// group is the values of a table. They depend on the same indices, through line if it is not zero.
type group struct {
	list []Val
	line line
}

// recurrence is a carried value: init + index*step.
type recurrence struct {
	init Val
	step Word
	loop int // the bit of the index
}

const varies = 1<<64 - 1

// open gives an index its bit. ok is false for one that no table is indexed by.
func (t *tabulator) open(x Index) (bit int, ok bool) {
	r := x.Range
	if len(t.index) == 60 || r.Kind != Steps || r.By != 1 || !r.From.Known() || r.From.Const != 0 || !t.outside(r.To) {
		return 0, false
	}
	t.index = append(t.index, x)
	return len(t.index) - 1, true
}

// outside reports a form of steady operands alone.
func (t *tabulator) outside(l Lin) bool {
	return !slices.ContainsFunc(l.Terms, func(m Term) bool {
		return m.Sym.Kind == IndexSym || m.Sym.Kind == ValSym || m.Sym.Kind == ParamSym && !t.steady(m.Sym.N)
	})
}

// bit is that of the index with a name, or -1.
func (t *tabulator) bit(name int) int {
	return slices.IndexFunc(t.index, func(x Index) bool { return x.Name == name })
}

// depend finds what the values of a block depend on.
func (t *tabulator) depend(b *Block) {
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if s.Loop != nil {
			bit, ok := t.open(s.Loop.Index)
			for k := range s.Loop.Init {
				t.carry(s.Loop, k, bit, ok)
			}
		}
		s.EachBlock(t.depend)
		for k := range s.N {
			t.deps[int(s.Dst)+k] = varies
		}
		if s.N == 1 {
			t.deps[s.Dst] = t.of(s)
		}
	}
}

// carry finds what carried value k of a loop depends on.
func (t *tabulator) carry(l *Loop, k, bit int, ok bool) {
	v := l.Carry + Val(k)
	t.deps[v] = varies
	next := t.made[l.Body.Yield[k]]
	if !ok || next == nil || next.Code != Add && next.Code != Sub || t.deps[l.Init[k]] == varies || t.from.Types[v].IsFloat() {
		return
	}
	a, b := next.Args[0], next.Args[1]
	if next.Code == Add && b == v {
		a, b = b, a
	}
	step := t.made[b]
	if a != v || step == nil || step.Code != Const {
		return
	}
	r := &recurrence{init: l.Init[k], step: step.Imm, loop: bit}
	if next.Code == Sub {
		r.step = -r.step
	}
	t.carried[v] = r
	t.deps[v] = t.deps[r.init] | 1<<bit
}

// of is what the result of a statement depends on.
func (t *tabulator) of(s *Stmt) (d uint64) {
	switch {
	case s.Code == Const:
		return 0
	case s.Code == IndexOf:
		if bit := t.bit(int(s.Imm)); bit >= 0 {
			return 1 << bit
		}
		return varies
	case s.Code == Load && s.Mem.Kind == ParamMem && t.steady(s.Mem.N):
		for _, l := range s.At {
			for _, m := range l.Terms {
				switch bit := -1; m.Sym.Kind {
				case ValSym:
					return varies
				case IndexSym:
					if bit = t.bit(m.Sym.N); bit < 0 {
						return varies
					}
					d |= 1 << bit
				case ParamSym:
					if !t.steady(m.Sym.N) {
						return varies
					}
				}
			}
		}
		return d
	case s.Code == Apply, s.Code.IsOp() && s.Code != IDiv && s.Code != Mod && s.Code != ToI64:
		for _, v := range s.Args {
			d |= t.deps[v]
		}
		return d
	}
	return varies
}

// tabled reports a value that may have a table: it depends on one or two indices, and not on all of
// the space.
func (t *tabulator) tabled(v Val) bool {
	d := t.deps[v]
	points := uint64(1)<<t.space - 1
	return d != varies && d != 0 && bits.OnesCount64(d) <= 2 && d&points != points && t.space > 0
}

// roots finds the values for tables: those that statements read which have none.
func (t *tabulator) roots(b *Block) {
	read := func(list []Val) {
		for _, v := range list {
			if !t.tabled(v) || t.made[v] == nil || slices.Contains(t.root, v) || t.cost(v, map[Val]bool{}) < t.least {
				continue
			}
			on := bits.OnesCount64(t.deps[v])
			if t.lineOf(v) != (line{}) {
				on = 1
			}
			if t.few[on]++; t.few[on] <= [...]int{1: mostSingle, 2: mostPairs}[on] {
				t.root = append(t.root, v)
			}
		}
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if s.N != 1 || !t.tabled(s.Dst) {
			read(s.Args)
		}
		if s.Loop != nil {
			read(s.Loop.Init)
		}
		s.EachBlock(t.roots)
	}
	read(b.Yield)
}

// cost is how many statements make a value, about.
func (t *tabulator) cost(v Val, seen map[Val]bool) int {
	s := t.made[v]
	if s == nil || seen[v] || t.deps[v] == 0 {
		return 0
	}
	seen[v] = true
	n := 1
	switch s.Code {
	case Apply:
		n = Length(&s.Func.Body)
	case Div, Sqrt:
		n = 8
	}
	for _, a := range s.Args {
		n += t.cost(a, seen)
	}
	return n
}

// place is the place in its table of the first value of a group. name gives the name of an index.
func (t *tabulator) place(g group, name func(bit int) int) (at []Lin) {
	at = []Lin{Num(0), Num(0)}
	if l := g.line; l != (line{}) {
		_, first := t.extent(l)
		at[1] = Of(IndexSym, name(l.p)).Times(l.a).Plus(Of(IndexSym, name(l.q)).Times(l.b)).Plus(first)
		return at
	}
	deps := t.deps[g.list[0]]
	k := 2 - bits.OnesCount64(deps) // a single index is that of the columns: they lie side by side
	for bit := range t.index {
		if deps>>bit&1 != 0 {
			at[k] = Of(IndexSym, name(bit))
			k++
		}
	}
	at[0] = at[0].Times(int64(len(g.list)))
	return at
}

// table writes the nest that makes the table of a group.
func (t *tabulator) table(g group) (out Tabulated) {
	b := New()
	b.Nest.Params = t.from.Params
	names := map[int]int{} // of the nest's indices, by bit
	deps := t.deps[g.list[0]]
	size := []Lin{Num(1), Num(1)}
	k := 2 - bits.OnesCount64(deps)
	for bit, x := range t.index {
		if deps>>bit&1 == 0 {
			continue
		}
		if size[k] = x.Range.To; g.line == (line{}) {
			names[bit] = b.Index(t.from.Names[x.Name], x.Range)
		}
		k++
		if bit >= t.space {
			out.Rounds = append(out.Rounds, x.Range.To)
		}
	}
	var at []Lin
	var step Lin // the value of the line
	if l := g.line; l != (line{}) {
		count, first := t.extent(l)
		u := Of(IndexSym, b.Index("line", Range{To: count, By: 1}))
		size[0], size[1], at, step = Num(1), count, []Lin{Num(0), u}, u.Plus(first.Times(-1))
	} else {
		at = t.place(g, func(bit int) int { return names[bit] })
	}
	forms := map[Val]form{}
	now, zero := map[Val]Val{}, map[Val]Val{}
	var write, start func(v Val) Val
	// start writes what is fixed of a linear value: it, where the indices are 0.
	start = func(v Val) Val {
		x, ok := zero[v]
		switch s := t.made[v]; {
		case ok:
		case t.deps[v] == 0:
			x = write(v)
		case t.carried[v] != nil:
			x = start(t.carried[v].init)
		case s.Code == IndexOf:
			x = b.Const(types.I64, 0)
		default:
			x = b.Op(s.Code, each(s.Args, start)...)
		}
		zero[v] = x
		return x
	}
	write = func(v Val) Val {
		if x, ok := now[v]; ok {
			return x
		}
		x := NoVal
		if g.line != (line{}) {
			if f := t.form(v, g.line, forms); f.kind == formLinear {
				if x = start(v); f.b != 0 {
					x = b.Op(Add, x, b.Number(step.Times(g.line.times(f))))
				}
				now[v] = x
				return x
			}
		}
		if c := t.carried[v]; c != nil {
			e := t.from.Types[v]
			x = b.Op(Add, write(c.init), b.Op(Mul, b.IndexValue(names[c.loop]), b.Const(e, c.step)))
			now[v] = x
			return x
		}
		s := t.made[v]
		args := each(s.Args, write)
		b.At(s.Origin)
		switch s.Code {
		case Const:
			x = b.Const(t.from.Types[v], s.Imm)
		case IndexOf:
			x = b.IndexValue(names[t.bit(int(s.Imm))])
		case Load:
			at := make([]Lin, len(s.At))
			for k, l := range s.At {
				at[k] = Num(l.Const)
				if g.line != (line{}) {
					at[k] = at[k].Plus(step.Times(g.line.times(t.subscript(l, g.line))))
				}
				for _, m := range l.Terms {
					switch {
					case m.Sym.Kind != IndexSym:
					case g.line != (line{}):
						continue
					default:
						m.Sym.N = names[t.bit(m.Sym.N)]
					}
					at[k] = at[k].Plus(Lin{Terms: []Term{m}})
				}
			}
			x = b.Load(s.Mem, at...)
		case Apply:
			x = b.Apply(s.Func, args...)[0]
		default:
			x = b.Op(s.Code, args...)
		}
		now[v] = x
		return x
	}
	size[0] = size[0].Times(int64(len(g.list)))
	to := Mem{Kind: ResultMem, N: b.Result(t.from.Types[g.list[0]], size[0], size[1])}
	for k, v := range g.list {
		b.Store(to, at[0].Plus(Num(int64(k))), at[1], write(v))
	}
	if err := b.Nest.Verify(); err != nil {
		panic(fmt.Sprintf("BUG: %v in a table of\n%s\n%s", err, t.from, b.Nest))
	}
	out.Nest, out.Rows, out.Cols, out.Values = b.Nest, size[0], size[1], len(g.list)
	return out
}

// reading is the nest that reads the tables. What they alone needed is not computed.
func (t *tabulator) reading() *Nest {
	need := make([]bool, len(t.from.Types))
	var mark func(v Val)
	mark = func(v Val) {
		if need[v] {
			return
		}
		need[v] = true
		if s := t.made[v]; s != nil && pure(s) && !slices.Contains(t.root, v) {
			s.EachRead(mark)
		}
	}
	EachStmt(&t.from.Body, func(s *Stmt) {
		if s.N != 1 || !pure(s) {
			s.EachRead(mark)
		}
	})
	like := *t.from
	like.Params = slices.Clone(like.Params)
	for _, g := range t.groups {
		like.Params = append(like.Params, Param{DenseParam, t.from.Types[g.list[0]]})
	}
	return rewritten(&like, func(r *rewriter, s *Stmt) bool {
		if s.N != 1 || !pure(s) {
			return false
		}
		if !need[s.Dst] {
			return true
		}
		for k, g := range t.groups {
			c := slices.Index(g.list, s.Dst)
			if c < 0 {
				continue
			}
			at := t.place(g, func(bit int) int { return r.name(t.index[bit].Name) })
			r.set(s, []Val{r.Load(Mem{Kind: ParamMem, N: len(t.from.Params) + k}, at[0].Plus(Num(int64(c))), at[1])})
			return true
		}
		return false
	})
}
