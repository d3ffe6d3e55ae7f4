package loop

// This file builds the statements that are not scalar operations.

import (
	"fmt"
	"slices"
	"strconv"

	"flow/ir/types"
)

// New begins an empty nest.
func New() *Builder {
	n := &Nest{}
	return &Builder{Nest: n, open: []*Block{&n.Body}}
}

// Param adds an operand and returns its number.
func (b *Builder) Param(kind ParamKind, e types.Elem) int {
	b.Nest.Params = append(b.Nest.Params, Param{kind, e})
	return len(b.Nest.Params) - 1
}

// Local adds a matrix of the body and returns its number.
func (b *Builder) Local(e types.Elem, rows, cols Lin) int {
	b.Nest.Locals = append(b.Nest.Locals, Local{Elem: e, Rows: rows, Cols: cols})
	return len(b.Nest.Locals) - 1
}

// Result adds a result whose elements are stored once each, and returns its number.
func (b *Builder) Result(e types.Elem, rows, cols Lin) int {
	b.Nest.Results = append(b.Nest.Results, Result{Elem: e, Rows: rows, Cols: cols, Over: -1})
	return len(b.Nest.Results) - 1
}

// Reduced adds a result of a reduction class and returns its number.
func (b *Builder) Reduced(c Class, e types.Elem, rows, cols Lin) int {
	k := b.Result(e, rows, cols)
	b.Nest.Results[k].Class = c
	return k
}

// Reduce contributes to an element of a reduced result.
func (b *Builder) Reduce(m Mem, row, col Lin, args ...Val) {
	b.add(Stmt{Code: Reduce, Dst: NoVal, Mem: m, At: []Lin{row, col}, Args: args})
}

// Name makes a unique name of an index. A name in use gets the least number that is free.
func (b *Builder) Name(name string) int {
	if b.next == nil {
		b.next = map[string]int{}
		for _, x := range b.Nest.Names {
			b.next[x] = 1
		}
	}
	try := name
	for b.next[try] > 0 {
		try = fmt.Sprintf("%s%d", name, b.next[name])
		b.next[name]++
	}
	b.next[try] = 1
	b.Nest.Names = append(b.Nest.Names, try)
	return len(b.Nest.Names) - 1
}

// Index adds an index to the space, inside the ones before, and returns its name.
func (b *Builder) Index(name string, r Range) int {
	k := b.Name(name)
	b.Nest.Space = append(b.Nest.Space, Index{k, r})
	return k
}

// IndexValue writes an index as a number.
func (b *Builder) IndexValue(name int) Val {
	v := b.fresh(types.I64)
	b.add(Stmt{Code: IndexOf, Dst: v, N: 1, Imm: uint64(name)})
	return v
}

// Number writes l as an i64. l must not have sizes of matrices.
func (b *Builder) Number(l Lin) Val {
	sum := NoVal
	add := func(v Val) {
		if sum == NoVal {
			sum = v
		} else {
			sum = b.Op(Add, sum, v)
		}
	}
	for _, t := range l.Terms {
		var v Val
		switch t.Sym.Kind {
		case IndexSym:
			v = b.IndexValue(t.Sym.N)
		case ValSym:
			v = Val(t.Sym.N)
		case ParamSym:
			v = b.Load(Mem{Kind: ParamMem, N: t.Sym.N})
		default:
			panic("BUG: a size as a number")
		}
		if t.Coef != 1 {
			v = b.Op(Mul, v, b.Const(types.I64, uint64(t.Coef)))
		}
		add(v)
	}
	if l.Const != 0 || sum == NoVal {
		add(b.Const(types.I64, uint64(l.Const)))
	}
	return sum
}

// Load reads an element: of a scalar operand without subscripts, of a matrix with two.
func (b *Builder) Load(m Mem, at ...Lin) Val {
	e := types.NoElem
	if m.Kind == LocalMem {
		e = b.Nest.Locals[m.N].Elem
	} else {
		e = b.Nest.Params[m.N].Elem
	}
	v := b.fresh(e)
	b.add(Stmt{Code: Load, Dst: v, N: 1, Mem: m, At: at})
	return v
}

// Table adds constant memory and returns its number.
func (b *Builder) Table(e types.Elem, words []uint64) int {
	b.Nest.Tables = append(b.Nest.Tables, Table{e, words})
	return len(b.Nest.Tables) - 1
}

// Look reads a word of a table. at must be inside it.
func (b *Builder) Look(table int, at Val) Val {
	v := b.fresh(b.Nest.Tables[table].Elem)
	b.add(Stmt{Code: Look, Dst: v, N: 1, Mem: Mem{Kind: TableMem, N: table}, Args: []Val{at}})
	return v
}

// Store writes an element.
func (b *Builder) Store(m Mem, row, col Lin, v Val) {
	b.add(Stmt{Code: Store, Dst: NoVal, Mem: m, At: []Lin{row, col}, Args: []Val{v}})
}

// Apply applies a function of scalars.
func (b *Builder) Apply(f *Function, args ...Val) []Val {
	list := f.Results()
	first := b.fresh(list...)
	b.add(Stmt{Code: Apply, Dst: first, N: len(list), Func: f, Args: args})
	return consecutive(first, len(list))
}

// Native applies a Go function of f64 numbers.
func (b *Builder) Native(name string, f func(x []float64) float64, args ...Val) Val {
	n := len(args)
	list := slices.Repeat([]types.Elem{types.F64}, n+1)
	return b.Apply(&Function{Name: name, Params: list[:n], Types: list, Body: Block{Yield: []Val{Val(n)}}, Go: f}, args...)[0]
}

// Break leaves the innermost For if c holds. It must be directly in the body of that loop.
func (b *Builder) Break(c Val) { b.add(Stmt{Code: Break, Dst: NoVal, Args: []Val{c}}) }

// If returns the yields of one of two blocks, which have these types.
func (b *Builder) If(c Val, gives []types.Elem, then, other func() []Val) []Val {
	s := Stmt{Code: If, Dst: b.fresh(gives...), N: len(gives), Args: []Val{c}, Then: &Block{}, Else: &Block{}}
	where := b.where
	b.inside(s.Then, then)
	b.inside(s.Else, other)
	b.where = where
	b.add(s)
	return consecutive(max(0, s.Dst), s.N)
}

// Mark is a position of a builder, for Drop.
type Mark struct{ stmts, types, names int }

// Mark returns the current position.
func (b *Builder) Mark() Mark {
	return Mark{len(b.open[len(b.open)-1].Stmts), len(b.Nest.Types), len(b.Nest.Names)}
}

// Drop removes what was written since a mark in the same block.
func (b *Builder) Drop(m Mark) {
	block := b.open[len(b.open)-1]
	block.Stmts = block.Stmts[:m.stmts]
	for _, name := range b.Nest.Names[m.names:] {
		delete(b.next, name)
		for cut := len(name) - 1; cut > 0 && '0' <= name[cut] && name[cut] <= '9'; cut-- { // that number is free again
			if k, err := strconv.Atoi(name[cut:]); err == nil && k < b.next[name[:cut]] {
				b.next[name[:cut]] = max(1, k)
			}
		}
	}
	b.Nest.Types, b.Nest.Names = b.Nest.Types[:m.types], b.Nest.Names[:m.names]
}

// Since calls f for what was written since a mark in the same block.
func (b *Builder) Since(m Mark, f func(s *Stmt)) {
	list := b.open[len(b.open)-1].Stmts
	for k := m.stmts; k < len(list); k++ {
		f(&list[k])
	}
}
