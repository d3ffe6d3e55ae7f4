package sparse

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/linalg"
)

// Rows is the rows of the family; maps are the elementwise rows, reductions those of
// matrices.
func Rows(maps []*op.Def) []*op.Def {
	rows := []*op.Def{toSparse(), sparseToDense(), nnz()}
	rows = append(rows, sparseMaps(maps)...)
	rows = append(rows, sparseReductions()...)
	rows = append(rows, sparseMoves()...)
	rows = append(rows, sparsePicks()...)
	rows = append(rows, sparseProducts()...)
	rows = append(rows, sparseRanks()...)
	return withEstimates(append(rows, randGraph(), randSparse(), eyeSparse()))
}

func sparseProducts() []*op.Def {
	return append([]*op.Def{sparseMatmul(), sparseProductChain(), sparseTransposedProduct(), sparseProductAsDense(), sparseEntryProduct()}, ringRows()...)
}

func sparseMoves() []*op.Def {
	return []*op.Def{
		sparseDiag(),
		sparseTransposed(),
		sparseSlice(),
		sparseItem(),
		sparseTriangle("lower", linalg.LowerRef, func(i, strict, cols int) (lo, hi int) { return 0, min(i+1-strict, cols) }),
		sparseTriangle("upper", linalg.UpperRef, func(i, strict, cols int) (lo, hi int) { return min(i+strict, cols), cols }),
		sparseBind("rbind", true), sparseBind("cbind", false),
	}
}

func ringRows() []*op.Def {
	row := func(d *op.Def) *op.Def {
		d.Type, d.Ref, d.ByColumn, d.Laws, d.Rate, d.Cost = foldType, foldRef, 1, op.Pure, "copy", define.SparseCost(2)
		d.Loop = &op.Loop{
			Rows:  func(s *op.Sig, _ types.Type) int { return rowsShared(s.In[0]) },
			Space: func(c *op.Call) (n, leaf int) { return rowSpace(c.In[0].Type()) },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginFold(c, workers), nil },
		}
		return d
	}
	return []*op.Def{
		row(&op.Def{
			Name: "semiring",
			Doc: "semiring is the product of a sparse matrix and a column over another semiring: element i is the ring's sum of a[i,k] * x[k] " +
				"over the entries that row i stores. Rings are \"max *\", \"min *\", \"min +\", \"max +\" and, for bools, \"or and\". A row without " +
				"entries gives the ring's zero: inf (-inf for max), the greatest (least) i64, false.",
			Args: []op.Arg{{Name: "a", Doc: "sparse n x m"}, {Name: "x", Doc: "dense m x 1"},
				{Name: "ring", Attr: true, Kind: op.StrVal, Doc: `"max *", "min *", "min +", "max +" or "or and"`}},
			Eg:    define.Eg(`semiring(sparse(2 * eye(2)), ones(2, 1), "min +")`, "3\n3\n"),
			Along: firstInput,
		}),
		row(&op.Def{
			Name: "sp.rowfold", Hidden: true,
			Doc: "sp.rowfold is a reduction (of = \"max\", \"min\", \"sum\", \"any\") of each row of a * t(x), or of a and t(x) for any, which is " +
				"not built; with base, the greater (lesser) of that and of base. The compiler writes it.",
			Args: []op.Arg{{Name: "a", Doc: "sparse n x m"}, {Name: "x", Doc: "m elements, a row or a column"},
				{Name: "base", Optional: true, Doc: "n x 1 of the type of the result, of max and min"},
				{Name: "of", Attr: true, Kind: op.StrVal, Doc: "the reduction"}},
			Eg:    define.Eg("rowmax(sparse(2 * eye(2)) * t(seq(3, 5)))", "6\n8\n"),
			Along: func(*op.Attrs) []int { return []int{0, 2} },
		}),
	}
}
