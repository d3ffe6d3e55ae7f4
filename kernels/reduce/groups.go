package reduce

// This file defines the rows that reduce numbers by the values of one or two columns.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/exact"
	"flow/kernels/window"
)

// groupClasses are the reductions by group.
var groupClasses = []loop.Class{loop.Sum, loop.Least, loop.Greatest, loop.Var, loop.Stddev}

// groupRows returns the rows that reduce by the values of columns, and the rows of their states.
func groupRows() (out []*op.Def) {
	for _, class := range groupClasses {
		d := groupRow(class)
		out = append(append(out, d), groupStates(d)...)
	}
	return out
}

// groupRow returns the row of one reduction by group.
func groupRow(class loop.Class) *op.Def {
	word := class.Info().Name
	w := Whole{Class: class}
	d := &op.Def{
		Name: "group." + word, Hidden: true, Class: class,
		Doc: "group." + word + " is the " + word + " of x by group, exact and rounded once. Element [p, q] is of the rows where keys[0] is " +
			"lo[0] + p * by[0] and keys[1] is lo[1] + q * by[1], for n[0] rows and n[1] columns. With one key the result is a column. " +
			"A sum counts truth values; of a scalar that is true it counts rows. The compiler writes such operators for reductions " +
			"of the rows whose columns equal the indices of a parfor.",
		Args: []op.Arg{{Name: "x", Doc: "r x 1 of f64 or i64, for a sum also of bool, or a truth value"}, {Name: "keys", Rest: true, Doc: "one or two columns r x 1 of numbers"},
			{Name: "lo", Attr: true, Kind: op.IntsVal, Doc: "the first index of each key"},
			{Name: "by", Attr: true, Kind: op.IntsVal, Doc: "the step of each"},
			{Name: "n", Attr: true, Kind: op.IntsVal, Doc: "how many there are of each"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, n := s.In[0], s.Attrs.Ints("n")
			if len(s.In) != len(n)+1 || len(n) > 2 || len(s.Attrs.Ints("lo")) != len(n) || len(s.Attrs.Ints("by")) != len(n) {
				return t, op.Faultf(0, define.CodeKind, "%s of %d keys by %v", s.Def.Name, len(s.In)-1, n)
			}
			if class != loop.Sum && (!t.IsDense() || t.Elem != types.F64 && (w.sums(t.Elem) > 0 || t.Elem != types.I64)) {
				return t, op.Faultf(0, define.CodeKind, "%s of %v", s.Def.Name, t)
			}
			for i, key := range s.In[1:] {
				if !key.IsDense() || key.Cols != 1 || key.Elem != types.I64 && key.Elem != types.F64 || !t.IsScalar() && key.Rows != t.Rows {
					return t, op.Faultf(1+i, define.CodeKind, "%s of %v by %v", s.Def.Name, t, key)
				}
			}
			return groupType(t.Elem == types.F64, n), nil
		},
		Ref:  func(c *op.Call) (value.Value, error) { return groupRef(c, class), nil },
		Laws: op.Pure | op.Total,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			cost := define.StreamCost(s, out, 1)
			cost.Flops += 16 * float64(s.In[1].Rows)
			return cost
		},
		Loop:  groupsLoop(class, false),
		Shard: op.Shard{Partial: "group." + word + ".part", Combine: "sum.join", Finish: "group." + word + ".done"},
	}
	if class == loop.Least || class == loop.Greatest {
		d.Shard.Combine = word + ".join"
	}
	return d
}

// groupType returns the type of the results of groups by keys of so many values.
func groupType(floats bool, n []int64) types.Type {
	t := types.DenseOf(types.I64, int(n[0]), 1)
	if floats {
		t.Elem = types.F64
	}
	if len(n) > 1 {
		t.Cols = int(n[1])
	}
	return t
}

// groupsLoop returns the loop over the rows of x. part: its results are states.
func groupsLoop(class loop.Class, part bool) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (n, leaf int) { return c.In[1].Type().Rows, window.LeafElements },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			b := &groupsBody{c: c, part: part, class: class, size: 1, lanes: groupLanes, by: make([]groupsWorker, workers)}
			for _, k := range c.Attrs.Ints("n") {
				b.size *= int(k)
			}
			if b.size > fewGroups {
				b.lanes = 1
			}
			b.squares = class == loop.Var || class == loop.Stddev
			b.floats = b.squares || class == loop.Sum && c.In[0].Type().Elem == types.F64
			return b, nil
		},
	}
}

// groupStates returns the rows of the states of d, one below the other, a state for each group. That of
// a sum and of an extreme is the accumulator of the whole reduction. That of a variance has the sums of
// the numbers and of their squares, and how many there are.
func groupStates(d *op.Def) []*op.Def {
	w := Whole{Class: d.Class}
	state := func(s *op.Sig) (types.Type, error) {
		t, err := d.Type(s)
		acc := w.Acc(t.Elem)
		if w.sums(t.Elem) > 1 {
			acc.Cols = 3 * exact.Words
		}
		acc.Rows = t.Rows * t.Cols
		return acc, err
	}
	rows := groupsLoop(d.Class, true)
	rows.Rows = func(s *op.Sig, _ types.Type) int { return s.In[1].Rows }
	part := define.ByKernel(&op.Def{
		Name: d.Shard.Partial, Hidden: true, Doc: d.Shard.Partial + " is the states of the groups of some rows, a row each.",
		Args: d.Args, Type: state, Laws: d.Laws, Cost: d.Cost, Loop: rows,
	})
	done := define.ByKernel(&op.Def{
		Name: d.Shard.Finish, Hidden: true, Doc: d.Shard.Finish + " is " + d.Name + " of states that have been merged.",
		Args: []op.Arg{{Name: "acc"}, d.Args[4], {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			return groupType(s.In[0].Cols > 1 || s.In[0].Elem == types.F64, s.Attrs.Ints("n")), nil
		},
		Laws: d.Laws,
		Cost: func(s *op.Sig, _ types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error {
			acc, out := c.Dense(0), c.Result()
			for j := range acc.Rows {
				one, n := acc.View(j, 0, 1, acc.Cols), 0
				if acc.Cols == 3*exact.Words {
					count := exact.FromWords(acc.I64[j*acc.Stride+2*exact.Words:][:exact.Words])
					one, n = acc.View(j, 0, 1, 2*exact.Words), int(count.Round())
				}
				out.Set(j/out.Cols, j%out.Cols, w.Done(one, out.Elem, n))
			}
			return nil
		},
	})
	return []*op.Def{part, done}
}

// groupRef is the definition: it compares every row with every index.
func groupRef(c *op.Call, class loop.Class) value.Value {
	lo, by := c.Attrs.Ints("lo"), c.Attrs.Ints("by")
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for p := range out.Rows {
		for q := range out.Cols {
			var of []loop.Word
			for i := range c.Dense(1).Rows {
				is := true
				for k, at := range []int{p, q}[:len(lo)] {
					index := value.I64(lo[k] + by[k]*int64(at))
					key := c.Dense(1+k).At(i, 0)
					is = is && (key.Elem == types.I64 && key.I == index.I || key.Elem != types.I64 && key.Float() == index.Float())
				}
				switch x := c.In[0].(type) {
				case value.Scalar:
					is = is && x.I != 0
					if is {
						of = append(of, 1)
					}
				case *value.Dense:
					if is {
						of = append(of, loop.WordOf(x.At(i, 0)))
					}
				}
			}
			out.Set(p, q, loop.ScalarOf(out.Elem, class.Fold(out.Elem, [][]loop.Word{of})))
		}
	}
	return out
}
