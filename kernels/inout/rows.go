package inout

import "flow/ir/op"

// Rows is the rows of input and output. The files that a table's read has parsed are cached in that
// table, streams in in.
func Rows(in *Input) []*op.Def {
	files := newFileCache(in)
	loop, written := inParts()
	return []*op.Def{readRow(files), readGraphRow(files), emitRow(), assertRow(), loop, written}
}
