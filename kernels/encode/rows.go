package encode

import (
	"slices"

	"flow/ir/op"
	"flow/kernels/define"
)

// Rows returns the rows that make codes of data and tables of codes.
func Rows() []*op.Def {
	weights := ctableOfWeights()
	return slices.Concat([]*op.Def{binByList(), binTable(), binWithin(), binEvenly(), recode(), ctable(), weights, rowsOfTable(),
		define.Chained(weights, addPairsInOrder)}, tableLists(weights), onehots())
}
