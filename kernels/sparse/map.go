package sparse

// This file derives from every elementwise row the one that takes sparse matrices. Which elements
// of the result can be other than zero follows from the operator:
//
//	meet   *, and            where every sparse argument has an entry: zero times anything, inf and nan included, is zero
//	first  / // %            where the first argument, if it is sparse, has an entry: zero by anything, zero included, is zero
//	join   those with f(0, 0, ..) = 0 when all matrices are sparse: where some argument has an entry
//	all    everything else: the result is dense
//
// The values at those places are computed by the dense row on lists of values, so that an operator
// means the same for both representations.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
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
	var out []*op.Def
	for _, d := range maps {
		if d.Elt != nil && !d.Hidden {
			out = append(out, sparseMap(d))
		}
	}
	return out
}

func sparseMap(d *op.Def) *op.Def {
	s := &op.Def{
		Name: "sp." + d.Name, For: d.Name, Word: define.SourceName(d), Hidden: true,
		Doc:  "sp." + d.Name + " is " + d.Name + " with sparse arguments.",
		Args: d.Args, Laws: op.Pure, Partial: d.Partial, Rate: "copy", Along: everyInput,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.SparseCost(4)(s, out)
			if out.IsDense() {
				w.Flops = 4 * define.ElementCount(out)
			}
			return w
		},
	}
	if d.Partial == op.Everywhere {
		s.Laws |= op.Total
	}
	s.Type = func(sig *op.Sig) (types.Type, error) { return sparseMapType(d, sig) }
	s.Ref = func(c *op.Call) (value.Value, error) { return sparseMapRef(d, c) }
	s.Kernel = func(c *op.Call) error { return sparseMapKernel(d, c) }
	s.Loop = sparseMapLoop(d)
	s.Stored = storedMap(d)
	return s
}

// AtEntries returns the row that runs a chain of elementwise operators at the entries of a sparse
// matrix, the first argument, and is zero elsewhere. maps is the row that runs chains on matrices.
func AtEntries(maps *op.Def) *op.Def {
	d := &op.Def{
		Name: "sp.map", Hidden: true,
		Doc:  "sp.map runs a chain of elementwise operators at the entries of a sparse matrix; fusion makes it.",
		Args: append(slices.Clone(maps.Args), define.Flag("zeros", "zeros stay, and -0: an element for each entry")),
		Laws: op.Pure, Rate: "copy", Along: everyInput, Type: define.OwnType, Cost: define.SparseCost(4),
		Stored: func(_ *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate {
			in[0].Basis = max(in[0].Basis, sparsity.Estimated) // zeros may come up
			return in[0]
		},
		Ref: func(c *op.Call) (value.Value, error) {
			s, one, wide := define.EveryElement(c.In[0]), *c, slices.Clone(c.In)
			for k, v := range wide {
				if v.Type().IsSparse() {
					wide[k] = define.EveryElement(v)
				}
			}
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			one.In, one.Type = slices.Clone(c.In), types.ScalarOf(c.Type.Elem)
			for i := range out.Rows {
				for j := range out.Cols {
					if !s.At(i, j).True() { // the chain may fail there
						continue
					}
					for k, v := range wide {
						one.In[k] = define.ElementAt(v, i, j)
					}
					y, err := maps.Ref(&one)
					if err != nil {
						return nil, err
					}
					out.Set(i, j, y.(value.Scalar))
				}
			}
			if c.Attrs.Bool("zeros") {
				return takenAt(s, out), nil
			}
			return define.KeptRef(out), nil
		},
	}
	d.Loop = unitLoop(func(c *op.Call, units, workers int) op.LoopBody {
		full := make([]bool, len(c.In))
		full[0] = true
		return beginSparseMap(maps, c, patternMeet, full, units, workers)
	})
	return d
}

// takenAt returns the elements of x where s is not zero, zeros among them.
func takenAt(s, x *value.Dense) *value.CSR {
	m := define.KeptRef(s)
	kept := value.NewCSR(x.Elem, m.Rows, m.Cols, m.NNZ())
	copy(kept.Ptr, m.Ptr)
	copy(kept.Col, m.Col)
	for i := range m.Rows {
		for k := m.Ptr[i]; k < m.Ptr[i+1]; k++ {
			kept.SetEntry(int(k), x.At(i, int(m.Col[k])))
		}
	}
	return kept
}

// patternOf is the pattern of d for arguments of these types and a result of element type e. full
// says which arguments are sparse and of the shape of the result; sparse vectors that are stretched
// count as dense.
func patternOf(d *op.Def, in []types.Type, out types.Type) (p pattern, full []bool) {
	some, all := false, true
	full = make([]bool, len(in))
	for i, t := range in {
		full[i] = t.IsSparse() && t.Rows == out.Rows && t.Cols == out.Cols
		some = some || full[i]
		all = all && full[i]
	}
	switch {
	case !some:
		return patternAll, full
	case d.Absorbs == op.EachZero:
		return patternMeet, full
	case full[0] && d.Absorbs == op.FirstZero:
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
	y, err := define.ApplyElt(d, out, zeros)
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
		return Of(0, t)
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
			wide[k] = define.EveryElement(m)
		}
	}
	p, full := patternOf(d, in, c.Type)
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	x := make([]value.Scalar, len(c.In))
	for i := range out.Rows {
		for j := range out.Cols {
			some, all := false, true
			for k := range x {
				x[k] = define.ElementAt(wide[k], i, j)
				if full[k] {
					some, all = some || x[k].True(), all && x[k].True()
				}
			}
			if p == patternMeet && !all || p == patternFirst && !x[0].True() || p == patternJoin && !some {
				continue
			}
			y, err := define.ApplyElt(d, out.Elem, x)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	if p == patternAll {
		return out, nil
	}
	return define.KeptRef(out), nil
}

// sparseMapOf says what a call makes.
func sparseMapOf(d *op.Def, c *op.Call) (p pattern, full []bool, err error) {
	in := make([]types.Type, len(c.In))
	for k, v := range c.In {
		in[k] = v.Type()
	}
	p, full = patternOf(d, in, c.Type)
	if c.Type.IsDense() != (p == patternAll) {
		err = op.Failf(define.CodeShape, "shapes of `%s` do not agree: %s", define.SourceName(d), define.Shapes(in))
	}
	return p, full, err
}

func sparseMapKernel(d *op.Def, c *op.Call) error {
	p, full, err := sparseMapOf(d, c)
	switch {
	case err != nil:
		return err
	case p != patternAll:
		return op.RunAll(beginSparseMap(d, c, p, full, 1, 1), 1)
	}
	l := beginWideMap(d, c, make([]bool, len(c.In)), 1) // whole, of any shape that the run finds
	return d.Kernel(&op.Call{Def: d, In: l.in, Type: c.Type, Out: c.Out})
}

func sparseMapLoop(d *op.Def) *op.Loop {
	return &op.Loop{
		Rows: func(_ *op.Sig, out types.Type) (n int) {
			if out.IsDense() {
				n, _ = wideSpace(out)
			}
			return n
		},
		Space: func(c *op.Call) (n, leaf int) {
			if c.Type.IsDense() {
				return wideSpace(c.Type)
			}
			return UnitSpace(c.Type)
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			p, full, err := sparseMapOf(d, c)
			switch {
			case err != nil:
				return nil, err
			case p == patternAll:
				return beginWideMap(d, c, full, workers), nil
			}
			n, _ := UnitSpace(c.Type)
			return beginSparseMap(d, c, p, full, n, workers), nil
		},
	}
}

// places is a list of elements of some rows of a matrix, row by row, columns ascending: those of
// row i are ptr[i]-ptr[0]..ptr[i+1]-ptr[0]-1 of col.
type places struct {
	rows, cols int
	ptr        []int64
	col        []int32
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

// joined returns the union of two ascending lists in dst, which has room for it. It branches:
// processors predict the branches well for graphs with near neighbours, and a form without branches
// took half as long again.
func joined(dst, a, b []int32) []int32 {
	dst = dst[:cap(dst)]
	i, j, k := 0, 0, 0
	for ; i < len(a) && j < len(b); k++ {
		x, y := a[i], b[j]
		dst[k] = min(x, y)
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	k += copy(dst[k:], a[i:])
	return dst[:k+copy(dst[k:], b[j:])]
}

func placed[T vec.Element](p *places, v value.Value, r0 int, d *value.Dense) {
	dst := dense.GridOf[T](d).X
	switch x := v.(type) {
	case *value.CSR:
		listed(p, x, r0, numbersOf[T](x, x.Elem), dst)
	case *value.Dense:
		gathered(p, x, r0, dense.GridOf[T](x).X, dst)
	}
}

// listed writes x, the values of m, at the places; x = nil: ones.
func listed[T vec.Element](p *places, m *value.CSR, r0 int, x, dst []T) {
	clear(dst)
	k := 0
	for i := range p.rows {
		cols, at := m.Row(r0 + i)
		q := 0
		for end := int(p.ptr[i+1] - p.ptr[0]); k < end; k++ {
			j := p.col[k]
			for q < len(cols) && cols[q] < j {
				q++
			}
			if q == len(cols) || cols[q] != j {
				continue
			}
			if dst[k] = 1; x != nil {
				dst[k] = x[at+q]
			}
		}
	}
}

// gathered writes the elements of x, stretched to the shape, at the places.
func gathered[T vec.Element](p *places, x *value.Dense, r0 int, from, dst []T) {
	step := x.Stride
	if x.Rows == 1 {
		step = 0
	}
	k := 0
	for i := range p.rows {
		end := int(p.ptr[i+1] - p.ptr[0])
		row := (r0 + i) * step
		if x.Cols == 1 {
			for ; k < end; k++ {
				dst[k] = from[row]
			}
			continue
		}
		for ; k < end; k++ {
			dst[k] = from[row+int(p.col[k])]
		}
	}
}

// everyInput is the Along of rows that stretch their inputs to the shape of the result.
func everyInput(*op.Attrs) []int { return []int{op.AllInputs} }

// storedMap is that of the elementwise row d, by its pattern.
func storedMap(d *op.Def) stored {
	return func(s *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
		p, full := patternOf(d, s.In, out)
		var of []sparsity.Estimate
		for k := range in {
			if full[k] && (p != patternFirst || k == 0) {
				of = append(of, in[k])
			}
		}
		if p == patternAll {
			return sparsity.Dense(out.Rows, out.Cols)
		}
		e := of[0]
		for _, x := range of[1:] {
			if p == patternMeet {
				e = sparsity.Meet(e, x)
			} else {
				e = sparsity.Join(e, x)
			}
		}
		if e.Basis == sparsity.Counted && (len(in) > 1 || !keepsNonzeros[d.Name]) {
			e.Basis = sparsity.Estimated // zeros may come up
		}
		return e
	}
}

// stored is a rule of op.Def.Stored.
type stored func(s *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate
