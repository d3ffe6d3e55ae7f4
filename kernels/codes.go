package kernels

// This file names the diagnostic codes that rows report. What each means, and the smallest program that provokes it,
// is in the table of codes, lang/source/codes.go.

// Codes of refusals (op.Fault) and failures (op.Failure).
const (
	codeArgument  = "E128" // no such argument
	codeElem      = "E201" // element types do not meet, or arguments are missing
	codeKind      = "E202" // wrong kind or type of argument
	codeAttr      = "E203" // an attribute has a bad value
	codeInner     = "E210" // inner sizes of @ differ
	codeShape     = "E211" // shapes do not agree
	codeRange     = "E212" // index or slice out of range
	codeSize      = "E216" // a size that no matrix has
	codeSquare    = "E213" // matrix is not square
	codeUnread    = "E501" // a file cannot be read
	codeUnwritten = "E507" // a file cannot be written
	codeDefinite  = "E601" // not positive definite
	codePivot     = "E602" // zero pivot
	codeAssert    = "E603" // assertion failed
	codeMemory    = "E605" // too large for memory
	codeData      = "E606" // data that the operator cannot work on
)
