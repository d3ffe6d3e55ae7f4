package define

// This file names the diagnostic codes that rows report. What each means, and the smallest program
// that provokes it, is in the table of codes, lang/source/codes.go.

// Codes of refusals (op.Fault) and failures (op.Failure).
const (
	CodeArgument  = "E128" // no such argument
	CodeElem      = "E201" // element types do not meet, or arguments are missing
	CodeKind      = "E202" // wrong kind or type of argument
	CodeAttr      = "E203" // an attribute has a bad value
	CodeInner     = "E210" // inner sizes of @ differ
	CodeShape     = "E211" // shapes do not agree
	CodeRange     = "E212" // index or slice out of range
	CodeSize      = "E216" // a size that no matrix has
	CodeSquare    = "E213" // matrix is not square
	CodeUnread    = "E501" // a file cannot be read
	CodeUnwritten = "E507" // a file cannot be written
	CodeDefinite  = "E601" // not positive definite
	CodePivot     = "E602" // zero pivot
	CodeAssert    = "E603" // assertion failed
	CodeMemory    = "E605" // too large for memory
	CodeData      = "E606" // data that the operator cannot work on
)

// codeIndex is an index in data that lies outside the matrix.
const codeIndex = "E607"
