package kernels

// This file writes the body of `byrows` as the body of a loop over rows, and runs reductions of rows by
// such loops.

import (
	"encoding/binary"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/nest"
	"flow/kernels/reduce"
)

// oneRow returns the body for one row of a body on matrices of the given number of rows. Its first
// argument is the number of the row. out is nil if a part of the body has no such form; why names that
// part.
func oneRow(whole *op.Body, rows int) (out *nest.RowsBody, why string) {
	b, results, why := withoutPipes(whole)
	if b == nil {
		return nil, why
	}
	one := func(t types.Type) types.Type {
		if t.IsDense() && t.Rows == rows {
			t.Rows = 1
		}
		return t
	}
	behind := func(list []int) []int { // the number of the row
		list = slices.Clone(list)
		for k := range list {
			list[k]++
		}
		return list
	}
	out = &nest.RowsBody{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64)}}, Varies: []bool{true}, ByRow: []bool{false}}
	for r, t := range b.Args {
		table := slices.ContainsFunc(b.Acts, func(a op.Action) bool { return picksFrom(&a, r) })
		own := t.IsDense() && t.Rows == rows && !table && !slices.ContainsFunc(b.Acts, func(a op.Action) bool { return readsTurned(&a, r) })
		if !table {
			t = one(t)
		}
		out.Args = append(out.Args, t)
		out.ByRow, out.Varies = append(out.ByRow, own), append(out.Varies, own)
	}
	for _, a := range b.Acts {
		// rows that are all the same are computed for each row as well, because no other loop computes them
		varies := a.Type.IsDense() && a.Type.Rows == rows || a.Chain != nil && slices.ContainsFunc(a.Chain.In, func(o op.Operand) bool { return o.Mode == op.Drawn || o.Mode == op.Trans })
		a.Type, a.Args = one(a.Type), behind(a.Args)
		for _, x := range a.Args {
			varies = varies || out.Varies[x]
		}
		out.Acts, out.Varies = append(out.Acts, a), append(out.Varies, varies)
	}
	for _, y := range results {
		if y.Register++; y.Keyed != nil {
			keyed := *y.Keyed
			keyed.Args, y.Keyed = behind(keyed.Args), &keyed
		}
		if !out.Varies[y.Register] {
			return nil, "a result whose rows are all the same"
		}
		out.Results, out.Yields = append(out.Results, y), append(out.Yields, y.Register)
	}
	return out, ""
}

// withoutPipes returns b without its pipes, and its results. The chain of a pipe and the pipe's
// reductions of rows become actions of their own. Reductions of all elements and by key become results
// and are no actions. The arguments stay. out is nil if a reduction has no such form: why names it.
func withoutPipes(b *op.Body) (out *op.Body, results []nest.RowResult, why string) {
	out = &op.Body{Args: b.Args}
	to := make([]int, len(b.Args)+len(b.Acts)) // of a register: its number in out
	totals := map[int]nest.RowResult{}         // of a register that is of all elements
	type parts struct {
		to     []int
		totals []nest.RowResult // without a row: it is an action
	}
	several := map[int]parts{} // of a register that is several results
	for r := range b.Args {
		to[r] = r
	}
	add := func(a op.Action) int {
		out.Acts = append(out.Acts, a)
		return len(out.Args) + len(out.Acts) - 1
	}
	for k := range b.Acts {
		a, r := &b.Acts[k], len(b.Args)+k
		args := make([]int, len(a.Args))
		for k, x := range a.Args {
			args[k] = to[x]
		}
		folds, is := foldsNamed(a.Attrs.Str("fold"))
		switch {
		case a.Def.Control == op.Part:
			x, at := several[a.Args[0]], a.Attrs.Int("at")
			if to[r] = x.to[at]; x.totals[at].Whole() {
				totals[r] = x.totals[at]
			}
		case a.Def.Keyed != nil:
			totals[r] = nest.RowResult{Register: args[0], Type: a.Type,
				Keyed: &op.Action{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Args: args}}
		case a.Def.Fold == op.FoldAll || a.Def.Fold == op.FoldCols && (a.Def.Class != loop.NoClass || isState(a.Def)) || a.Def.Places:
			totals[r] = nest.RowResult{Register: args[0], Total: a.Def, Type: a.Type}
		case a.Chain == nil || !is:
			to[r] = add(op.Action{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Args: args, Chain: a.Chain, Bodies: a.Bodies})
		default:
			chain := add(op.Action{Def: a.Def, Attrs: a.Attrs, Type: types.DenseOf(a.Chain.Elem(), a.Attrs.Int("rows"), a.Attrs.Int("cols")), Args: args, Chain: a.Chain})
			var x parts
			for k, t := range a.Type.Parts() {
				at, total := chain, nest.RowResult{}
				switch f := folds[k]; {
				case f == nil:
				case f.Axis == reduce.OverRows:
					at = add(op.Action{Def: f.Def, Type: t, Args: []int{chain}})
				case f.Def.Class == loop.NoClass && !f.Part && !f.Def.Places:
					return nil, nil, "`" + define.SourceName(f.Def) + "`"
				default:
					total = nest.RowResult{Register: chain, Total: f.Def, Type: t}
				}
				x.to, x.totals = append(x.to, at), append(x.totals, total)
			}
			several[r] = x
			if to[r] = x.to[0]; a.Type.Kind != types.Tuple && x.totals[0].Whole() {
				totals[r] = x.totals[0]
			}
		}
	}
	for _, y := range b.Yields {
		res, total := totals[y]
		if !total {
			res = nest.RowResult{Register: to[y], Type: b.Register(y)}
		}
		results, out.Yields = append(results, res), append(out.Yields, res.Register)
	}
	return out, results, ""
}

// readsTurned reports whether a is a chain that reads register r transposed.
func readsTurned(a *op.Action, r int) bool {
	for k, x := range a.Args {
		if x == r && a.Chain != nil && a.Chain.In[k].Mode == op.Trans {
			return true
		}
	}
	return false
}

// picksFrom reports whether a takes rows of register r by positions. It may need any of them.
func picksFrom(a *op.Action, r int) bool { return a.Def.Numbers > 0 && a.Args[0] == r }

// rowsKey is what the loops of reductions of rows depend on beside their program.
type rowsKey struct {
	fold       string
	rows, cols int
	in         string // sizes of operands; a scalar has -1
}

const (
	// From sumsAlong columns on a sum of floats of rows takes less time along the row than rows side by
	// side do, and from fewAlong on if there are elementsAlong elements, which no second-level cache holds.
	// A sum of squares ends with more work. Measured on a Zen 4.
	sumsAlong, squaresAlong = 512, 3072
	fewAlong, elementsAlong = 64, 1 << 17
	// plainSideBySide is the most columns for which extremes of stored rows and their places run as loops,
	// in lanes of rows. A kernel takes 0.9 of the time for longer rows, and needs no machine code.
	plainSideBySide = 48
)

// alongRows reports a body of reductions of rows whose lanes are best the elements of a row.
func alongRows(b *nest.RowsBody, rows, cols int) bool {
	sums := cols >= sumsAlong || cols >= fewAlong && rows*cols >= elementsAlong
	return !slices.ContainsFunc(b.Acts, func(a op.Action) bool {
		switch c := a.Def.Class; c {
		case loop.Norm, loop.Var, loop.Stddev:
			return cols < squaresAlong
		case loop.Sum, loop.Mean:
			return !sums && (c == loop.Mean || b.Register(a.Args[0]).Elem.IsFloat())
		}
		return false
	})
}

// rowsPay reports whether loops over rows take less time for a reduction than its kernel. chain: the
// rows are not stored.
func rowsPay(f *reduce.Fold, cols int, chain bool) bool {
	return chain || cols <= plainSideBySide || !f.Arg() && !f.Extreme()
}

// mostShapes is about the most keys for which a program keeps loops.
const mostShapes = 64

// reducingRows makes rows that reduce rows run by loops, where enough work has been seen.
func reducingRows(defs []*op.Def, read func(d *op.Def) func(c *op.Call) (job, bool)) []*op.Def {
	for _, d := range defs {
		of := read(d)
		if of == nil {
			continue
		}
		kernel, begin := d.Kernel, d.Loop.Begin
		if d.Role == op.Reduces {
			d.Nests = rowsNests(d.Nests)
		}
		d.Kernel = func(c *op.Call) error {
			if j, ok := of(c); ok {
				if x := j.beginRows(c, 1, begin); x != nil {
					err := x.Chunk(0, 0, j.rows)
					if end := x.End(); err == nil {
						err = end
					}
					return err
				}
			}
			return kernel(c)
		}
		d.Loop.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
			if j, ok := of(c); ok {
				if x := j.beginRows(c, workers, begin); x != nil {
					return x, nil
				}
			}
			return begin(c, workers)
		}
	}
	return defs
}

// rowsNests returns Nests of op.Def for pipes: the loops of one that reduces rows, and others for other
// pipes.
func rowsNests(others func(*op.Call, []types.Type) ([]*loop.Nest, string)) func(*op.Call, []types.Type) ([]*loop.Nest, string) {
	return func(c *op.Call, in []types.Type) ([]*loop.Nest, string) {
		j, err := pipeJob(&op.Call{Def: c.Def, Attrs: c.Attrs, Body: c.Body, Type: c.Type})
		if err == nil && j.axis() == reduce.OverRows {
			list, why := j.nests(c.Def, in)
			if list != nil {
				return list, ""
			}
			if why != "" {
				list, _ = others(c, in)
				return list, why
			}
		}
		return others(c, in)
	}
}

// nests returns the loops of a job that reduces rows. list is nil if kernels reduce the rows as fast,
// or if no loop can; why is then the reason. d is the row of the pipe, in has its operand types.
func (j *job) nests(d *op.Def, in []types.Type) (list []*loop.Nest, why string) {
	if !j.byRowLoops() {
		return nil, ""
	}
	code := &byRowsCode{body: j.rowsBody(d, in), rows: j.rows, cols: j.cols, reduces: true}
	if code.write(); code.form == nil {
		return nil, code.why
	}
	return code.form.nests(), ""
}

// pipedRows reads a pipe that reduces rows alone, axisRows a reduction of rows without a chain.
func pipedRows(*op.Def) func(c *op.Call) (job, bool) {
	return func(c *op.Call) (job, bool) {
		define.LendResults(c)
		j, err := pipeJob(c)
		return j, err == nil
	}
}

func axisRows(d *op.Def) func(c *op.Call) (job, bool) {
	f := reduce.Named(d.Name)
	if f == nil || f.Axis != reduce.OverRows || d.Loop == nil {
		return nil
	}
	return func(c *op.Call) (job, bool) {
		t := c.In[0].Type()
		if _, lent := c.Out.(*value.Dense); !lent || !t.IsDense() || !rowsPay(f, t.Cols, false) {
			return job{}, false
		}
		return foldJob(c, f), true
	}
}

// byRowLoops reports whether loops reduce the rows of a job, if there is enough work. Long rows that
// are read transposed are turned tile by tile instead.
func (j *job) byRowLoops() bool {
	return len(j.p.In) <= mostIn &&
		!slices.ContainsFunc(j.p.In, func(o op.Operand) bool { return o.Mode == op.Trans && j.cols >= nest.LeastWidth }) &&
		!slices.ContainsFunc(j.ends, func(x ending) bool { return x.Axis != reduce.OverRows || !rowsPay(x.Fold, j.cols, len(j.p.Steps) > 0) })
}

// rowsOf is the loops of a job that reduces rows, or nil as long as little work has been seen, and
// where there are none.
func (j *job) rowsOf(c *op.Call) *byRowsCode {
	if j.axis() != reduce.OverRows || !j.byRowLoops() {
		return nil
	}
	var room [64]byte
	sizes, in := room[:0], make([]types.Type, len(j.in))
	for i, v := range j.in {
		if in[i] = v.Type(); in[i].IsMatrix() {
			sizes = binary.AppendVarint(binary.AppendVarint(sizes, int64(in[i].Rows)), int64(in[i].Cols))
		} else {
			sizes = binary.AppendVarint(sizes, -1)
		}
	}
	k := rowsKey{fold: j.fold, rows: j.rows, cols: j.cols, in: string(sizes)}
	for i := range j.ends {
		x := &j.ends[i]
		if x.out == nil || sharesMemory(j.in, x.out) { // rows of which a loop is not sure are reduced again
			return nil
		}
	}
	kept := &nestsOf(j.p).kept
	code, ok := kept.Load(k)
	if !ok {
		if nestsOf(j.p).shapes.Add(1)%mostShapes == 0 {
			kept.Clear()
		}
		code, _ = kept.LoadOrStore(k, &byRowsCode{body: j.rowsBody(c.Def, in), rows: j.rows, cols: j.cols, reduces: true})
	}
	if c := code.(*byRowsCode); c.worthwhile() {
		return c
	}
	return nil
}

// rowsBody returns a job on operands of types in as a body of operators on whole matrices. The first
// action is the chain, by row d, if the operand itself is not what is reduced. The others are the
// reductions.
func (j *job) rowsBody(d *op.Def, in []types.Type) *op.Body {
	b := &op.Body{}
	args := make([]int, len(j.p.In))
	for k := range args {
		t := types.DenseOf(types.I64, 1, len(op.DrawWords{}))
		if k < len(in) {
			t = in[k]
		}
		b.Args, args[k] = append(b.Args, t), k
	}
	chain := 0
	if len(j.p.Steps) > 0 || j.p.In[0].Mode != op.Full {
		b.Acts = append(b.Acts, op.Action{Def: d, Type: types.DenseOf(j.elem, j.rows, j.cols), Args: args, Chain: j.p})
		chain = len(b.Args)
	}
	if j.stores {
		b.Yields = append(b.Yields, chain)
	}
	for k := range j.ends {
		b.Yields = append(b.Yields, len(b.Args)+len(b.Acts))
		b.Acts = append(b.Acts, op.Action{Def: j.ends[k].Def, Type: j.ends[k].result, Args: []int{chain}})
	}
	return b
}

// beginRows binds the loops of a job that reduces rows; nil if it runs in another way, which begin
// begins.
func (j *job) beginRows(c *op.Call, workers int, begin func(c *op.Call, workers int) (op.LoopBody, error)) *rowsRun {
	aside, ok := j.overwritten()
	if !ok {
		return nil
	}
	code := j.rowsOf(c)
	if code == nil {
		return nil
	}
	x := code.execution(c, j.in)
	x.aside = aside
	for k := len(j.in); k < len(j.p.In); k++ {
		words := value.New(types.I64, 1, len(op.DrawWords{}))
		w := j.p.In[k].Words(j.from.row, j.from.col)
		copy(words.I64, w[:])
		x.values = append(x.values, words)
	}
	x.other = func() (op.LoopBody, error) { return begin(c, workers) }
	if j.stores {
		x.out = append(x.out, j.out)
	}
	for k := range j.ends {
		x.out = append(x.out, j.ends[k].out)
	}
	if !x.bind(c, workers) {
		return nil
	}
	return x
}

// overwritten lists the operands, as registers of rowsBody, whose rows share memory with the same rows
// of the result. ok is false if an operand shares memory in another way: storing a row would destroy
// rows that are still to be read.
func (j *job) overwritten() (list []int, ok bool) {
	if !j.alias {
		return nil, true
	}
	for k, v := range j.in {
		d, is := v.(*value.Dense)
		switch {
		case !is || !shareMemory(d, j.out):
		case j.p.In[k].Mode == op.Trans || d.Rows != j.rows || !inRowsOf(d, j.out):
			return nil, false
		default:
			list = append(list, k+1)
		}
	}
	return list, true
}

// inRowsOf reports whether the memory of each row of d is a part of the same row of the matrix of.
func inRowsOf(d, of *value.Dense) bool {
	begin := func(d *value.Dense) int64 {
		s := dense.SlabOf(d, 0, 1)
		return int64(uintptr(s.Pointer()))
	}
	first, size := begin(d)-begin(of), int64(d.Elem.Size())
	return d.Elem == of.Elem && d.Stride == of.Stride && first >= 0 && first%size == 0 && first/size+int64(d.Cols) <= int64(of.Cols)
}

// table is the memory of the tables of result k, which is by key.
func (x *rowsRun) table(k int) *value.Dense {
	y := &x.code.form.results[k]
	e := types.I64 // what comes in any order
	if y.Ordered() {
		e = y.Type.Elem
	}
	tables, size := y.Tables(x.code.rows, x.code.panel)
	return value.New(e, tables*size, 1)
}

// giveKeyed makes the results by key of their tables; false where a chain is not finite: rows of
// other keys count in it, too.
func (x *rowsRun) giveKeyed() bool {
	for k := range x.code.form.results {
		y := &x.code.form.results[k]
		if y.Keyed == nil {
			continue
		}
		to := x.c.Lent(k)
		table := x.out[k]
		_, n := y.Tables(x.code.rows, x.code.panel)
		if table.Elem == types.F64 && to.Elem == types.F64 {
			var panels []dense.Grid[float64]
			for from := 0; from < table.Rows; from += n {
				for _, s := range table.F64[from:][:n] {
					if s-s != 0 {
						return false
					}
				}
				panels = append(panels, dense.Grid[float64]{Rows: n / to.Cols, Cols: to.Cols, LD: to.Cols, X: table.F64[from:][:n]})
			}
			if y.Keyed.Def.Keyed.Stacked {
				copy(to.F64, table.F64)
				continue
			}
			table = &value.Dense{Elem: types.F64, Rows: n, Cols: 1, Stride: 1, F64: linalg.AddPanels(panels).X}
		}
		for i := range to.Rows {
			for j := range to.Cols {
				to.Set(i, j, table.At(i*to.Cols+j, 0).Convert(to.Elem))
			}
		}
	}
	return true
}
