package sparse

// This file says where results of the family's rows are not zero, as far as that follows from their
// arguments (op.Def.Stored).

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/kernels/window"
)

// storedSame is the first argument's: conversions, and functions that keep zero. Most of
// them keep everything else, too.
func storedSame(_ *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate { return in[0] }

// storedSparse is that of sparse(x). It is unknown where nothing is known of a dense x.
func storedSparse(_ *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
	if in[0].Basis == sparsity.Guessed && in[0].Full {
		return sparsity.Unknown(out.Rows, out.Cols)
	}
	return in[0]
}

// storedTouched is that of the lists of touched columns of all ranks.
func storedTouched(s *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
	if t := s.In[0]; t.IsDense() { // on a rank about as many as its rows
		n := float64(t.Rows)
		if s.Attrs.Int("all") == 0 {
			n /= float64(out.Rows)
		}
		return sparsity.Uniform(out.Rows, out.Cols, min(n, float64(out.Cols)), sparsity.Estimated)
	}
	return sparsity.Uniform(out.Rows, out.Cols, in[0].Touched(out.Rows), sparsity.Estimated)
}

func storedWindow(s *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate {
	w, _ := window.RectOf(s.Attrs, "at")
	return in[0].Window(w.Row, w.Col, w.Rows, w.Cols)
}

func storedProduct(_ *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate {
	return sparsity.Product(in[0], in[1])
}

// keepsNonzeros are the functions of one argument that are zero at zero alone, conversions to wider
// types included.
var keepsNonzeros = map[string]bool{"neg": true, "abs": true, "f64": true, "bool": true, "sign": true}

// withEstimates adds the rules to the rows of the family.
func withEstimates(rows []*op.Def) []*op.Def {
	rules := map[string]stored{
		"sparse": storedSparse, "sp.dense": storedSame, "sp.own": storedSame, "sp.collect": storedSame, "sp.touched": storedTouched, "sp.slice": storedWindow, "sp.matmul": storedProduct, "sp.product": storedProduct,
		"sp.lower": storedTriangle(sparsity.Below), "sp.upper": storedTriangle(sparsity.Above), "sp.rbind": storedBind, "sp.cbind": storedBind,
		"sp.pick.rows": storedPart, "sp.take": storedPart, "sp.pick.cols": storedPart, "sp.stride": storedPart, "sp.window": storedPart, "sp.cut": storedPart,
		"sp.t": func(_ *op.Sig, in []sparsity.Estimate, _ types.Type) sparsity.Estimate { return in[0].T() },
		"eye_sparse": func(_ *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
			e := sparsity.Uniform(out.Rows, out.Cols, float64(out.Rows), sparsity.Counted)
			e.MostRow, e.MostCol = 1, 1
			return e
		},
		"rand_sparse": func(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
			per := float64(perRow(s.Attrs))
			e := sparsity.Uniform(out.Rows, out.Cols, per*float64(out.Rows), sparsity.Counted)
			e.MostRow = per
			return e
		},
		"rand_graph": func(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
			// Edges that come up twice are merged: in n^2 places e balls leave about n^2 (1 -
			// exp(-e / n^2)), here to second order from below.
			n, e := float64(out.Rows)*float64(out.Cols), float64(s.Attrs.Int("e"))
			if n == 0 {
				return sparsity.Uniform(out.Rows, out.Cols, 0, sparsity.Counted)
			}
			return sparsity.Uniform(out.Rows, out.Cols, e/(1+e/(2*n)), sparsity.Estimated)
		},
	}
	for _, d := range rows {
		if r := rules[d.Name]; r != nil {
			d.Stored = r
		}
	}
	return rows
}
