package kernels

// This file defines the rows that run pipelines: a chain of elementwise operators over one index
// space, whose elements are stored (map) or reduced (pipe), or both. It reads memory once and stores
// nothing in between. How a pipeline runs is in pipe_loop.go and pipe_machine.go, its reductions are
// in pipe_fold.go.

import (
	"fmt"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
	"flow/kernels/window"
)

// pipelines returns the rows map and pipe. The attributes of pipe are those of map, the shape of the
// index space and, in fold, the names of the reductions. With one name the result is that reduction's,
// with several it is a tuple of theirs; the first of several may be `store`, the elements themselves.
// Reductions of rows and of columns do not mix.
func pipelines(run *engine) []*op.Def {
	maps := &op.Def{
		Name:  "map",
		Role:  op.Maps,
		Doc:   "map runs a chain of elementwise operators over one index space; fusion makes it.",
		Ref:   mapRef,
		Shard: op.Shard{Kind: op.ShardAligned},
		Cost:  func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 4) },
		Nests: func(c *op.Call, _ []types.Type) ([]*loop.Nest, string) { return toldNests(c.Body, c.Type) },
	}
	run.runsMaps(maps)
	pipe := &op.Def{
		Name:  "pipe",
		Role:  op.Reduces,
		Doc:   "pipe reduces a chain of elementwise operators over one index space in one pass over memory; fusion makes it.",
		Ref:   pipeRef,
		Shard: op.Shard{Kind: op.ShardWhole}, // Partition cuts it as its reduction is cut
		Cost:  pipeCost,
		Nests: pipeNests,
	}
	run.runs(pipe, pipeJob, func(c *op.Call) (job, error) {
		define.LendResults(c)
		return pipeJob(c)
	})
	pipe.Loop.Rows = func(s *op.Sig, _ types.Type) int { return s.Attrs.Int("rows") }
	for _, d := range []*op.Def{maps, pipe} {
		d.Hidden, d.Args, d.Laws = true, []op.Arg{{Name: "x", Rest: true}}, op.Pure
		// The result's type belongs to the node: it follows from the body, which a type rule does
		// not see.
		d.Type = define.OwnType
		// Only a Full operand may lend its memory: a transposed one is read after the elements at
		// its place are written. The engine looks at the node's modes. Results of reductions are
		// written after the elements that they reduce.
		d.Alias = true
	}
	return []*op.Def{maps, pipe}
}

func pipeCost(s *op.Sig, out types.Type) op.Work {
	n := float64(s.Attrs.Int("rows")) * float64(s.Attrs.Int("cols"))
	w := define.ReadCost(s, 0)
	w.Flops = 8 * n
	if out.Kind == types.Tuple {
		for _, t := range out.Parts() {
			w.Bytes += float64(t.Bytes())
			w.Flops += 4 * n
		}
	}
	return w
}

// job is what an execution works on: a program over an index space, and what becomes of its
// elements.
type job struct {
	p          *op.Program
	in         []value.Value
	rows, cols int
	elem       types.Elem
	stores     bool         // the elements are a result
	out        *value.Dense // where they are stored; nil: they are not, or memory for them is not lent yet
	ends       []ending
	alias      bool   // out may be the memory of an operand
	from       offset // see op.Origin
	fold       string // the names of the reductions
}

// offset is a row and a column.
type offset struct{ row, col int }

// ending is a reduction of the elements of a job.
type ending struct {
	*reduce.Fold
	at     int          // of several results
	out    *value.Dense // of reductions along an axis, and of accumulators
	result types.Type
}

// axis is what the reductions go over; those over all elements go along with any.
func (j *job) axis() reduce.Axis {
	for k := range j.ends {
		if a := j.ends[k].Axis; a != reduce.OverAll {
			return a
		}
	}
	return reduce.OverAll
}

// reader reads a call as a job. A reader that is asked for the iterations alone may leave out the
// operands.
type reader func(c *op.Call) (job, error)

// mapSpace returns the job of a map or of an elementwise operator without its operands and its result.
func mapSpace(c *op.Call) (job, error) {
	return job{p: c.Body, rows: c.Type.Rows, cols: c.Type.Cols}, nil
}

// mapJob returns the job of a map or of a single elementwise operator.
func (e *engine) mapJob(c *op.Call) (j job, err error) {
	j = job{p: c.Body, in: c.In, out: c.Result()}
	j.from.row, j.from.col = op.Origin(c.Attrs)
	if j.p == nil {
		if j.p, err = e.single(c); err != nil {
			return j, err
		}
	}
	j.rows, j.cols, j.elem = j.out.Rows, j.out.Cols, j.out.Elem
	j.alias = sharesMemory(c.In, j.out)
	return j, nil
}

func pipeJob(c *op.Call) (job, error) {
	if c.Body == nil {
		return job{}, op.Failf(define.CodeData, "pipe without a body")
	}
	folds, ok := foldsNamed(c.Attrs.Str("fold"))
	if !ok {
		return job{}, op.Failf(define.CodeData, "BUG: no pipeline ends with %q", c.Attrs.Str("fold"))
	}
	j := job{p: c.Body, in: c.In, rows: c.Attrs.Int("rows"), cols: c.Attrs.Int("cols"), elem: c.Body.Elem(), fold: c.Attrs.Str("fold"),
		ends: make([]ending, 0, len(folds))}
	j.from.row, j.from.col = op.Origin(c.Attrs)
	for k, t := range c.Type.Parts() {
		e := ending{Fold: folds[k], at: k, result: t}
		if c.Out != nil {
			e.out = c.Lent(k)
		}
		if e.Fold != nil {
			j.ends = append(j.ends, e)
			continue
		}
		j.stores = true
		if j.out = e.out; j.out != nil {
			j.alias = sharesMemory(c.In, j.out)
		}
	}
	return j, nil
}

// drawnBlock returns rows x cols elements of a drawn operand, from (i, j) on, as they are defined.
func drawnBlock(o *op.Operand, i, j, rows, cols int) (*value.Dense, error) {
	r0, c0 := window.Origin(o.Attrs)
	at := o.Attrs.With("at", op.Ints(r0+i, c0+j, rows, cols))
	v, err := o.Gen.Ref(&op.Call{Def: o.Gen, Attrs: at, Type: types.DenseOf(o.Elem, rows, cols)})
	if err != nil {
		return nil, err
	}
	return v.(*value.Dense), nil
}

// stepped is what the definitions of the steps of a program make of elements of its operands, which
// regs holds, with room for what the steps make. args is room for operands of a step. elts is empty, or
// holds what earlier elements of the same types have left there. nil keeps nothing.
func stepped(p *op.Program, elts *[]define.Elt, regs, args []value.Scalar) (v value.Scalar, err error) {
	if len(p.Steps) == 0 {
		return regs[0], nil
	}
	for k, s := range p.Steps {
		x := args[:len(s.Args)]
		for a, r := range s.Args {
			x[a] = regs[r]
		}
		switch {
		case elts == nil:
			v, err = define.ApplyElt(s.Def, s.Elem, x)
		case k == len(*elts):
			*elts = append(*elts, define.EltOf(s.Def, s.Elem, x))
			fallthrough
		default:
			v, err = (*elts)[k].Of(x)
		}
		if err != nil {
			break
		}
		regs = append(regs, v)
	}
	return v, err
}

// mapRef evaluates the chain element by element.
func mapRef(c *op.Call) (value.Value, error) {
	p := c.Body
	regs := make([]value.Scalar, len(p.In), len(p.In)+len(p.Steps))
	args := make([]value.Scalar, mostArgs)
	elts := make([]define.Elt, 0, len(p.Steps))
	rows, cols := 1, 1
	if c.Type.Kind != types.Scalar {
		rows, cols = c.Type.Rows, c.Type.Cols
	}
	row, col := op.Origin(c.Attrs)
	drawn := make([]*value.Dense, len(p.In))
	for k := range p.In {
		if o := &p.In[k]; o.Mode == op.Drawn {
			var err error
			if drawn[k], err = drawnBlock(o, row, col, rows, cols); err != nil {
				return nil, err
			}
		}
	}
	at := func(i, j int) (value.Scalar, error) {
		for k, o := range p.In {
			switch o.Mode {
			case op.Drawn:
				drawn[k].Read(i, j, &regs[k])
			case op.Trans:
				c.Dense(k).Read(j, i, &regs[k])
			default:
				regs[k] = define.ElementAt(c.In[k], i, j)
			}
		}
		return stepped(p, &elts, regs[:len(p.In)], args)
	}
	if c.Type.Kind == types.Scalar {
		return at(0, 0)
	}
	out := value.New(c.Type.Elem, rows, cols)
	for i := range rows {
		for j := range cols {
			y, err := at(i, j)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	return out, nil
}

// pipeRef is the chain stored, then the definitions of the reductions.
func pipeRef(c *op.Call) (value.Value, error) {
	j, err := pipeJob(c)
	if err != nil {
		return nil, err
	}
	y, err := mapRef(&op.Call{Def: c.Def, Attrs: c.Attrs, In: c.In, Body: c.Body, Type: types.DenseOf(j.elem, j.rows, j.cols)})
	if err != nil {
		return nil, err
	}
	if c.Type.Kind != types.Tuple {
		return j.ends[0].ref(y)
	}
	out := make(value.Tuple, len(c.Type.Parts()))
	out[0] = y // if it is a result
	for k := range j.ends {
		if out[j.ends[k].at], err = j.ends[k].ref(y); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *ending) ref(y value.Value) (value.Value, error) {
	return x.Def.Ref(&op.Call{Def: x.Def, In: []value.Value{y}, Type: x.result})
}

// Single elementwise operators run as pipelines of one step, and reductions without a chain as
// pipelines without a step. An engine keeps one program for each combination of types and modes of
// operands, so compiled code serves later calls.

// mostArgs is the most operands of an elementwise row.
const mostArgs = 3

// singleKey identifies the program of a single operator.
type singleKey struct {
	def  *op.Def
	out  types.Elem
	n    int
	in   [mostArgs]types.Elem
	mode [mostArgs]op.Mode
}

// singleOf returns the key of operator d with n operands in and a result of type out.
func singleOf(d *op.Def, out types.Type, n int, in func(k int) types.Type) singleKey {
	x := singleKey{def: d, out: out.Elem, n: n}
	for k := range n {
		t := in(k)
		x.in[k], x.mode[k] = t.Elem, op.Full
		switch {
		case t.IsScalar() || t.Rows == 1 && t.Cols == 1:
			x.mode[k] = op.Single
		case t.Rows == 1 && out.Rows != 1:
			x.mode[k] = op.RowVec
		case t.Cols == 1 && out.Cols != 1:
			x.mode[k] = op.ColVec
		}
	}
	return x
}

// program returns the operator as a program of one step.
func (k *singleKey) program() *op.Program {
	p := &op.Program{Steps: []op.Step{{Def: k.def, Elem: k.out}}}
	for a := range k.n {
		p.In = append(p.In, op.Operand{Elem: k.in[a], Mode: k.mode[a]})
		p.Steps[0].Args = append(p.Steps[0].Args, a)
	}
	return p
}

// single returns the program of c's operator.
func (e *engine) single(c *op.Call) (*op.Program, error) {
	out := c.Result().Type()
	for _, v := range c.In {
		if t := v.Type(); t.IsDense() && (t.Rows != 1 && t.Rows != out.Rows || t.Cols != 1 && t.Cols != out.Cols) {
			return nil, op.Failf(define.CodeShape, "shapes of `%s` do not agree: %v and %v", define.SourceName(c.Def), t, out)
		}
	}
	k := singleOf(c.Def, out, len(c.In), func(k int) types.Type { return c.In[k].Type() })
	return e.singles.Of(k, func() *op.Program { return k.program() }), nil
}

// executes gives elementwise rows the kernel and the loop of their one-step programs. Rows that
// have a kernel keep it.
func (e *engine) executes(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Kernel == nil {
			e.runsMaps(d)
		}
	}
	return rows
}

// runsMaps gives a row of maps, or one elementwise row, its kernel and its loop.
func (e *engine) runsMaps(d *op.Def) {
	e.runs(d, mapSpace, e.mapJob)
	d.Loop.Light, d.Loop.Rows = true, op.RowsOfResult // unless an operand is read transposed
	matrices := d.Kernel
	d.Kernel = func(c *op.Call) (err error) {
		switch {
		case c.Type.Kind != types.Scalar:
			return matrices(c)
		case c.Body != nil:
			c.Out, err = mapRef(c)
			return err
		}
		x := make([]value.Scalar, len(c.In))
		for i := range c.In {
			x[i] = c.Scalar(i)
		}
		c.Out, err = define.ApplyElt(c.Def, c.Type.Elem, x)
		return err
	}
}

// folded makes the reductions among rows run as pipelines. Exceptions are reductions of each row, those
// of a rank's block, and calls with few elements.
func (e *engine) folded(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		f := reduce.Named(d.Name)
		if f == nil || f.Axis == reduce.OverRows || f.Axis == reduce.OverAll && f.Part {
			continue
		}
		small, read := d.Kernel, func(c *op.Call) (job, error) { return foldJob(c, f), nil }
		e.runs(d, read, read)
		d.Loop.Light = true
		large := d.Kernel
		d.Kernel = func(c *op.Call) error {
			if n := c.In[0].Type().Count(); n == 0 || f.Axis == reduce.OverAll && n <= blockElems {
				return small(c)
			}
			return large(c)
		}
	}
	return rows
}

// plain holds the program without a step for each type of elements.
var plain = map[types.Elem]*op.Program{
	types.F64:  {In: []op.Operand{{Elem: types.F64}}},
	types.F32:  {In: []op.Operand{{Elem: types.F32}}},
	types.I64:  {In: []op.Operand{{Elem: types.I64}}},
	types.Bool: {In: []op.Operand{{Elem: types.Bool}}},
}

// foldJob returns a reduction as a job.
func foldJob(c *op.Call, f *reduce.Fold) job {
	t := c.In[0].Type()
	out, _ := c.Out.(*value.Dense)
	return job{p: plain[t.Elem], in: c.In, rows: t.Rows, cols: t.Cols, elem: t.Elem, fold: f.Def.Name,
		ends: []ending{{Fold: f, result: c.Type, out: out}}}
}

// told gives the rows that write loops of elementwise operators their Nests.
func told(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Laws.Has(op.Elementwise) && d.Elt != nil && d.Nests == nil {
			d.Nests = singleNests
		}
	}
	return rows
}

// singleNests is the loop of an elementwise operator alone.
func singleNests(c *op.Call, in []types.Type) ([]*loop.Nest, string) {
	if len(in) > mostArgs {
		return nil, fmt.Sprintf("more than %d operands", mostArgs)
	}
	for _, t := range in {
		if !t.IsDense() && !t.IsScalar() {
			return nil, "an operand of " + t.String()
		}
	}
	k := singleOf(c.Def, c.Type, len(in), func(k int) types.Type { return in[k] })
	return toldNests(k.program(), c.Type)
}

// toldNests is the loop of a program with a result of type t.
func toldNests(p *op.Program, t types.Type) ([]*loop.Nest, string) {
	if !t.IsDense() {
		return nil, ""
	}
	apart := slices.ContainsFunc(p.In, func(o op.Operand) bool { // see machine.joins
		return o.Mode != op.Single && o.Mode != op.RowVec && o.Mode != op.Full
	})
	return shapedNests(p, nestShape{tall: apart && t.Known() && t.Cols < tallBelow && t.Rows >= 2*t.Cols})
}

// shapedNests is the loop of a program in a shape whose modes follow.
func shapedNests(p *op.Program, s nestShape) ([]*loop.Nest, string) {
	if len(p.In) > mostIn {
		return nil, fmt.Sprintf("more than %d operands", mostIn)
	}
	for k := range p.Steps {
		if d := p.Steps[k].Def; d.Body == nil {
			return nil, "`" + define.SourceName(d) + "`"
		}
	}
	for k, o := range p.In {
		mode := o.Mode
		if mode == op.Trans && !s.tall { // a block of it is written first, and read as it lies there
			mode = op.Full
		}
		s.modes[k] = mode
	}
	nest := writeNest(p, s)
	if nest == nil {
		return nil, "an operator of these types"
	}
	return []*loop.Nest{nest}, ""
}

// pipeNests returns the loop of a pipe. The reductions are part of the loop, unless kernels reduce
// blocks of the chain's elements.
func pipeNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	s, rows := nestShape{fold: c.Attrs.Str("fold")}, false
	folds, _ := foldsNamed(s.fold)
	for _, f := range folds {
		rows = rows || f != nil && f.Axis == reduce.OverRows
		if f != nil && f.Axis == reduce.OverCols {
			s.columns = true
		}
	}
	if parts, _ := foldParts(s.fold, c.Body.Elem(), s.columns); rows || len(parts) == 0 {
		if s = (nestShape{}); len(c.Body.Steps) == 0 {
			return nil, ""
		}
	}
	return shapedNests(c.Body, s)
}
