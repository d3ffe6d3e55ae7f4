package kernels

// This file derives from every elementwise row the one that takes sparse matrices. Which elements of the result can be
// other than zero follows from the operator:
//
//	meet   *, and            where every sparse argument has an entry: zero times anything, inf and nan included, is zero
//	first  / // %            where the first argument, if it is sparse, has an entry: zero by anything, zero included, is zero
//	join   those with f(0, 0, ..) = 0 when all matrices are sparse: where some argument has an entry
//	all    everything else: the result is dense
//
// The values at those places are computed by the dense row on lists of values, so that an operator means the same
// for both representations.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// pattern says where the result of an elementwise row on sparse arguments can be other than zero.
type pattern uint8

const (
	patternAll pattern = iota
	patternMeet
	patternFirst
	patternJoin
)

func sparseMaps(maps []*op.Def) []*op.Def {
	run := &engine{}
	var out []*op.Def
	for _, d := range maps {
		if d.Elt != nil && !d.Hidden && d.Name != "fmt" {
			out = append(out, sparseMap(d, run))
		}
	}
	return out
}

func sparseMap(d *op.Def, run *engine) *op.Def {
	s := &op.Def{
		Name: "sp." + d.Name, For: d.Name, Word: sourceName(d), Hidden: true,
		Doc:  "sp." + d.Name + " is " + d.Name + " with sparse arguments.",
		Args: d.Args, Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: sparseCost(4),
	}
	s.Type = func(sig *op.Sig) (types.Type, error) { return sparseMapType(d, sig) }
	s.Ref = func(c *op.Call) (value.Value, error) { return sparseMapRef(d, c) }
	s.Kernel = func(c *op.Call) error { return sparseMapKernel(d, c, run) }
	return s
}

// patternOf is the pattern of d for arguments of these types and a result of element type e. full says which
// arguments are sparse and of the shape of the result; sparse vectors that are stretched count as dense.
func patternOf(d *op.Def, in []types.Type, out types.Type) (p pattern, full [3]bool) {
	some, all := false, true
	for i, t := range in {
		full[i] = t.IsSparse() && t.Rows == out.Rows && t.Cols == out.Cols
		some = some || full[i]
		all = all && full[i]
	}
	switch {
	case !some:
		return patternAll, full
	case d.Name == "mul" || d.Name == "and":
		return patternMeet, full
	case full[0] && (d.Name == "div" || d.Name == "idiv" || d.Name == "mod"):
		return patternFirst, full
	case all && keepsZero(d, in, out.Elem):
		return patternJoin, full
	}
	return patternAll, full
}

// keepsZero reports f(0, 0, ..) = 0.
func keepsZero(d *op.Def, in []types.Type, out types.Elem) bool {
	zeros := make([]value.Scalar, len(in))
	for i, t := range in {
		zeros[i] = value.Scalar{Elem: t.Elem}
	}
	y, err := applyElt(d, out, zeros)
	return err == nil && !y.True()
}

func sparseMapType(d *op.Def, s *op.Sig) (types.Type, error) {
	asDense := op.Sig{Def: d, Attrs: s.Attrs, Consts: s.Consts}
	for _, t := range s.In {
		t.Repr = types.Dense
		asDense.In = append(asDense.In, t)
	}
	t, err := d.Type(&asDense)
	if err != nil {
		return t, err
	}
	if p, _ := patternOf(d, s.In, t); p != patternAll {
		return sparseOf(0, t)
	}
	return denseResult(s, t)
}

// sparseMapRef goes over every element.
func sparseMapRef(d *op.Def, c *op.Call) (value.Value, error) {
	in := make([]types.Type, len(c.In))
	wide := make([]value.Value, len(c.In))
	for k, v := range c.In {
		in[k], wide[k] = v.Type(), v
		if m, ok := v.(*value.CSR); ok {
			wide[k] = everyElement(m)
		}
	}
	p, full := patternOf(d, in, c.Type)
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	x := make([]value.Scalar, len(c.In))
	for i := range out.Rows {
		for j := range out.Cols {
			some, all := false, true
			for k := range x {
				x[k] = elementAt(wide[k], i, j)
				if full[k] {
					some, all = some || x[k].True(), all && x[k].True()
				}
			}
			if p == patternMeet && !all || p == patternFirst && !x[0].True() || p == patternJoin && !some {
				continue
			}
			y, err := applyElt(d, out.Elem, x)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	if p == patternAll {
		return out, nil
	}
	return keptRef(out), nil
}

func sparseMapKernel(d *op.Def, c *op.Call, run *engine) error {
	in := make([]types.Type, len(c.In))
	for k, v := range c.In {
		in[k] = v.Type()
	}
	p, full := patternOf(d, in, c.Type)
	if c.Type.IsDense() != (p == patternAll) {
		return op.Failf(codeShape, "shapes of `%s` do not agree: %s", sourceName(d), shapes(in))
	}
	args := make([]value.Value, len(c.In))
	if p == patternAll {
		for k, v := range c.In {
			args[k] = v
			if m, ok := v.(*value.CSR); ok {
				x := value.New(m.Elem, m.Rows, m.Cols)
				spread(x, m)
				args[k] = x
			}
		}
		return run.single(d, &op.Call{Def: d, In: args, Type: c.Type, Out: c.Out})
	}
	at := placesOf(c, p, full)
	n := len(at.col)
	for k, v := range c.In {
		switch {
		case full[k]:
			args[k] = at.listOf(v.(*value.CSR))
		case !in[k].IsMatrix():
			args[k] = v
		default:
			x := v
			if m, ok := v.(*value.CSR); ok { // a vector
				x = value.New(m.Elem, m.Rows, m.Cols)
				spread(x.(*value.Dense), m)
			}
			args[k] = at.gather(x.(*value.Dense))
		}
	}
	out := value.New(c.Type.Elem, 1, n)
	if n > 0 {
		if err := run.single(d, &op.Call{Def: d, In: args, Type: out.Type(), Out: out}); err != nil {
			return err
		}
	}
	c.Out = pruned(at.rows, at.cols, at.ptr, at.col, out)
	return nil
}

// places is a list of elements of a matrix, row by row, columns ascending.
type places struct {
	rows, cols int
	ptr        []int64
	col        []int32
}

// placesOf is where the result of a call can be other than zero.
func placesOf(c *op.Call, p pattern, full [3]bool) *places {
	var of []*value.CSR
	for k, v := range c.In {
		if full[k] && (p != patternFirst || k == 0) {
			of = append(of, v.(*value.CSR))
		}
	}
	at := &places{rows: of[0].Rows, cols: of[0].Cols, ptr: make([]int64, of[0].Rows+1)}
	most := 0
	for _, m := range of {
		if n := m.NNZ(); p == patternJoin {
			most += n
		} else if most == 0 || n < most {
			most = n
		}
	}
	at.col = make([]int32, 0, most)
	var line [3][]int32
	for i := range at.rows {
		for k, m := range of {
			line[k], _ = m.Row(i)
		}
		switch {
		case len(of) == 1:
			at.col = append(at.col, line[0]...)
		case p == patternJoin:
			at.col = joined(at.col, line[:len(of)])
		default: // mul and and have two arguments
			at.col = met(at.col, line[0], line[1])
		}
		at.ptr[i+1] = int64(len(at.col))
	}
	return at
}

// met appends what a and b have in common.
func met(dst, a, b []int32) []int32 {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			dst = append(dst, a[i])
			i, j = i+1, j+1
		}
	}
	return dst
}

// joined appends the union of ascending lists, at most three.
func joined(dst []int32, lists [][]int32) []int32 {
	var at [3]int
	for {
		least, some := int32(0), false
		for k, l := range lists {
			if at[k] < len(l) && (!some || l[at[k]] < least) {
				least, some = l[at[k]], true
			}
		}
		if !some {
			return dst
		}
		dst = append(dst, least)
		for k, l := range lists {
			if at[k] < len(l) && l[at[k]] == least {
				at[k]++
			}
		}
	}
}

// listOf is the elements of m at the places, zero where it has no entry.
func (p *places) listOf(m *value.CSR) *value.Dense {
	d := value.New(m.Elem, 1, len(p.col))
	k := 0
	for i := range p.rows {
		cols, at := m.Row(i)
		q := 0
		for end := int(p.ptr[i+1]); k < end; k++ {
			j := p.col[k]
			for q < len(cols) && cols[q] < j {
				q++
			}
			if q == len(cols) || cols[q] != j {
				continue
			}
			switch m.Elem {
			case types.F64:
				d.F64[k] = m.F64[at+q]
			case types.F32:
				d.F32[k] = m.F32[at+q]
			case types.Bool:
				d.Bool[k] = 1
			default:
				d.I64[k] = m.I64[at+q]
			}
		}
	}
	return d
}

// gather is the elements of x, stretched to the shape, at the places.
func (p *places) gather(x *value.Dense) *value.Dense {
	d := value.New(x.Elem, 1, len(p.col))
	step, across := x.Stride, 1
	if x.Rows == 1 {
		step = 0
	}
	if x.Cols == 1 {
		across = 0
	}
	k := 0
	for i := range p.rows {
		for end := int(p.ptr[i+1]); k < end; k++ {
			at := i*step + int(p.col[k])*across
			switch x.Elem {
			case types.F64:
				d.F64[k] = x.F64[at]
			case types.F32:
				d.F32[k] = x.F32[at]
			case types.Bool:
				d.Bool[k] = x.Bool[at]
			default:
				d.I64[k] = x.I64[at]
			}
		}
	}
	return d
}
