package define

// This file defines type rules that rows share, their arguments, their faults, and the codes of these.
// What a code means, and the smallest program that provokes it, is in lang/source/codes.go.

import (
	"fmt"
	"slices"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
)

// ElementRule gives the result's element type for those of the arguments, all of them numeric, time
// or str; ok is false when they do not meet.
type ElementRule func(in []types.Elem, s *op.Sig) (types.Elem, bool)

// SourceName is what the program wrote for d: the sign if it has one.
func SourceName(d *op.Def) string {
	if d.Infix != "" && d.Infix != "neg" {
		return d.Infix
	}
	return d.Source()
}

// Shapes lists types, of values or of elements, for a message.
func Shapes[T fmt.Stringer](in []T) string {
	words := make([]string, len(in))
	for i, t := range in {
		words[i] = t.String()
	}
	return strings.Join(words, " and ")
}

// Broadcast returns the common shape of in, without element type: along each axis every argument
// has the common length or 1, so a column and a row make a matrix. bad is the argument that does
// not fit, or -1. Dimensions that only the run knows are taken to fit.
func Broadcast(in []types.Type) (out types.Type, bad int) {
	out = types.Type{Kind: types.Scalar}
	for i, t := range in {
		if t.Kind != types.Matrix {
			continue
		}
		if out.Kind == types.Scalar {
			out = types.DenseOf(types.NoElem, t.Rows, t.Cols)
			continue
		}
		var ok bool
		if out.Rows, ok = meet(out.Rows, t.Rows); !ok {
			return out, i
		}
		if out.Cols, ok = meet(out.Cols, t.Cols); !ok {
			return out, i
		}
	}
	return out, -1
}

// meet is the common dimension of a and b.
func meet(a, b int) (int, bool) {
	switch {
	case a == b || b == 1:
		return a, true
	case a == 1 || a == types.Unknown:
		return b, true
	case b == types.Unknown:
		return a, true
	}
	return 0, false
}

// Eg is an example of one expression.
func Eg(expr, output string) []op.Example {
	return []op.Example{{Program: "emit " + expr, Output: output}}
}

// Flag is a bool attribute that is false when absent.
func Flag(name, doc string) op.Arg {
	no := op.Bool(false)
	return op.Arg{Name: name, Attr: true, Kind: op.BoolVal, Default: &no, Doc: doc}
}

// Turned is the shape of t, transposed when on.
func Turned(t types.Type, on bool) (rows, cols int) {
	if on {
		return t.Cols, t.Rows
	}
	return t.Rows, t.Cols
}

// Agree reports that two dimensions are equal as far as they are known.
func Agree(a, b int) bool { return a == b || a == types.Unknown || b == types.Unknown }

// DenseType is the type of the one argument, which must be a dense matrix.
func DenseType(s *op.Sig) (types.Type, error) {
	if t := s.In[0]; !t.IsDense() {
		return types.Type{}, op.Faultf(0, CodeKind, "%s takes a dense matrix; this is %s", s.Def.Source(), t)
	}
	return s.In[0], nil
}

// OneOf is the fault of a word that is none of those listed.
func OneOf(arg int, name, word string, words ...string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return op.Faultf(arg, CodeAttr, "%s is %q", name, word).WithHelp("%s is one of %s", name, strings.Join(words, ", "))
}

// OwnType is the type rule of rows whose nodes have the type that their regions give.
func OwnType(s *op.Sig) (types.Type, error) {
	return types.Type{}, op.Faultf(-1, CodeKind, "`%s` has the type that its node says", s.Def.Name)
}

// BadIndex returns the failure of a subscript outside of its matrix. Its help is that of subscripts, which
// count negative numbers from the end.
func BadIndex(format string, args ...any) *op.Failure {
	return op.Failf(codeIndex, format, args...).WithHelp("rows and columns are counted from 0, or with negative numbers back from the end; a..b leaves out b")
}

// NumberMatrix is the type of argument i, which must be a dense matrix of numbers or bools.
func NumberMatrix(s *op.Sig, i int) (types.Type, error) {
	t := s.In[i]
	if !t.IsDense() || !t.Elem.IsNumeric() {
		return types.Type{}, op.Faultf(i, CodeKind, "`%s` takes a dense matrix of numbers; this is %s", s.Def.Source(), t)
	}
	return t, nil
}

// EffectType is the type of an effect that waits for others: all inputs from first on.
func EffectType(s *op.Sig, first int) (types.Type, error) {
	for i := first; i < len(s.In); i++ {
		if t := s.In[i]; t.Kind != types.Effect {
			return types.Type{}, op.Faultf(i, CodeKind, "argument %d of %s must be an effect; this is %s", i+1, s.Def.Source(), t)
		}
	}
	return types.EffectType(), nil
}

// SeedArg is the seed of whatever draws numbers.
func SeedArg() op.Arg {
	none := op.Int(0)
	return op.Arg{Name: "seed", Attr: true, Kind: op.IntVal, Default: &none, Doc: "the same seed makes the same numbers"}
}

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
