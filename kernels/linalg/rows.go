package linalg

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
)

// Rows returns the rows of products, factorisations and solutions of triangular systems.
func (l *Linear) Rows() []*op.Def {
	panels := l.panels()
	rows := append(l.contractions(), panels, l.along(), l.stack(), l.panelsChain(panels), panelsAdd())
	rows = append(rows, l.factorizations()...)
	rows = append(rows, l.triangularSolves()...)
	return append(rows, Triangles()...)
}

func (l *Linear) contractions() []*op.Def {
	ta := define.Flag("ta", "a is used transposed")
	tb := define.Flag("tb", "b is used transposed")
	sub := define.Flag("sub", "subtract the product instead of adding it")
	return []*op.Def{
		{
			Name: "matmul", Infix: "@", Role: op.Multiplies,
			Doc: "matmul is the matrix product `a @ b`. Each element is one chain of fused multiply-adds over ascending k that starts from +0, " +
				"whatever the tiles, threads and ranks; i64 wraps, bool counts as 0 and 1.",
			Args:     []op.Arg{{Name: "a", Doc: "n x k"}, {Name: "b", Doc: "k x m"}, ta, tb},
			Eg:       []op.Example{{Program: "emit ones(2, 3) @ ones(3, 1)", Output: "3\n3\n"}, {Program: "emit (2 * eye(2)) @ ones(2, 2)", Output: "2 2\n2 2\n"}},
			Type:     matmulType,
			Elements: func(e *op.Elements) op.Element { return chainElements(e, e.In, nil) },
			Along:    rowsOfLeft,
			Ref:      MatmulRef,
			Laws:     op.Pure | op.Total,
			Shard:    op.Shard{Kind: op.ShardContract, Accum: "gemm", Chain: "matmul.panels.chain"},
			Rate:     "gemm",
			Cost:     func(s *op.Sig, out types.Type) op.Work { return productWork(s, s.In[0], out) },
			Kernel:   l.matmul,
			Loop:     l.tallLoop(0, l.matmul),
		},
		{
			Name: "gemm", Hidden: true, Role: op.MultipliesOnto,
			Doc:  "gemm is c + a @ b, or c - a @ b: the accumulating product that the compiler makes of such expressions.",
			Args: []op.Arg{{Name: "c", Doc: "n x m, what the chains start from"}, {Name: "a", Doc: "n x k"}, {Name: "b", Doc: "k x m"}, sub, ta, tb},
			Eg: []op.Example{
				{Program: "a = ones(2, 2)\nemit eye(2) + a @ a", Output: "3 2\n2 3\n"},
			},
			Type:     gemmType,
			Elements: func(e *op.Elements) op.Element { return chainElements(e, e.In[1:], e.In[0].At) },
			Along:    rowsOfSum,
			Ref:      GemmRef,
			Laws:     op.Pure | op.Total,
			Shard:    op.Shard{Kind: op.ShardContract, Accum: "gemm"},
			Accum:    1,
			Narrow:   "syrk",
			Rate:     "gemm",
			Cost:     func(s *op.Sig, out types.Type) op.Work { return productWork(s, s.In[1], out) },
			Kernel:   l.gemm,
			Loop:     l.tallLoop(1, l.gemm),
		},
		{
			Name: "syrk", Hidden: true,
			Doc: "syrk is the lower triangle of c + a @ t(a), or of c - a @ t(a) (of t(a) @ a with ta): gemm where nothing else is read. " +
				"Above the diagonal stays what c has there.",
			Args:  []op.Arg{{Name: "c", Doc: "n x n"}, {Name: "a", Doc: "n x k"}, sub, define.Flag("ta", "t(a) @ a instead of a @ t(a)")},
			Eg:    []op.Example{{Program: "a = ones(2, 2)\nemit lower(3 * eye(2) - a @ t(a))", Output: " 1 0\n-2 1\n"}},
			Type:  syrkType,
			Ref:   syrkRef,
			Laws:  op.Pure | op.Total,
			Accum: 1, Lower: []int{0},
			Cost: func(s *op.Sig, out types.Type) op.Work {
				w := productWork(s, s.In[1], out)
				return op.Work{Flops: w.Flops / 2, Bytes: w.Bytes / 2}
			},
			Kernel: l.syrk,
		},
	}
}
