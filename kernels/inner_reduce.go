package kernels

// This file compiles what ends a pass over the rows of tall matrices, or makes a column of several: sums and products.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
)

// sum is an exact sum: of each row, of each column, or of everything.
func (k *innerCompiler) sum(a *op.Action) innerRef {
	x := k.ref(a.Args[0])
	if !x.tall || a.Type.Elem != types.F64 || k.c.elems[x.regs[0]] != types.F64 {
		panic(notLanes{})
	}
	if a.Def.Name == "rowsum" {
		if len(x.regs) > 3 {
			panic(notLanes{})
		}
		s := laneStep{kind: stepSum3, instr: instr{dst: k.register(types.F64), out: types.F64, n: 3}}
		for j := range s.arg {
			if j < len(x.regs) {
				s.arg[j] = x.regs[j]
			} else {
				s.arg[j] = k.none()
			}
		}
		k.emitTo(true, false, s)
		return innerRef{tall: true, regs: []int{s.dst}}
	}
	groups := [][]int{x.regs}
	if a.Def.Name == "colsum" {
		groups = groups[:0]
		for j := range x.regs {
			groups = append(groups, x.regs[j:j+1])
		}
	}
	out := innerRef{late: true}
	for _, g := range groups {
		of := slices.Clone(g)
		for j, r := range of {
			of[j] = k.whole(r)
		}
		to := k.register(types.F64)
		k.in.sums = append(k.in.sums, innerSum{of, to})
		out.regs = append(out.regs, to)
	}
	return out
}

// whole is a copy of r in a register of its own, which lies in memory as long as the column.
func (k *innerCompiler) whole(r int) int {
	d := k.register(types.F64)
	k.emitTo(true, false, laneStep{kind: stepCopy, instr: instr{elem: types.F64, out: types.F64, dst: d, arg: [3]int{r}, n: 1}})
	return d
}

// flat is a tall column as a row.
func (k *innerCompiler) flat(a *op.Action) innerRef {
	x := k.ref(a.Args[0])
	if !x.tall || len(x.regs) != 1 {
		panic(notLanes{})
	}
	x.flat = true
	return x
}

// dot is the product of a transposed tall column and a tall matrix: a row.
func (k *innerCompiler) dot(a *op.Action) innerRef {
	x := k.env[a.Args[0]]
	if a.Attrs.Bool("ta") {
		x = k.ref(a.Args[0])
		x.flat = x.tall && len(x.regs) == 1
	}
	y := k.ref(a.Args[1])
	if !x.flat || !y.tall || a.Attrs.Bool("tb") || a.Type.Elem != types.F64 || k.c.elems[x.regs[0]] != types.F64 || k.c.elems[y.regs[0]] != types.F64 {
		panic(notLanes{})
	}
	out := innerRef{late: true}
	for _, r := range y.regs {
		to := k.register(types.F64)
		k.in.dots = append(k.in.dots, innerDot{k.whole(x.regs[0]), k.whole(r), to})
		out.regs = append(out.regs, to)
	}
	return out
}
