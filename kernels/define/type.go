package define

// This file defines type rules that rows share, their arguments, their faults, and the codes of these.
// What a code means, and the smallest program that provokes it, is in lang/source/codes.go.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

// BadIndex returns the failure of a subscript outside of its matrix. Its help is that of subscripts,
// which count negative numbers from the end.
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

// What follows is the costs that rows share, and the sizes behind them.

// StreamCost is the work of reading every input and writing the output once, with flops operations
// per element.
func StreamCost(s *op.Sig, out types.Type, flops float64) op.Work {
	n := ElementCount(out)
	w := op.Work{Flops: flops * n, Bytes: n * float64(out.Elem.Size())}
	for _, t := range s.In {
		w.Bytes += ElementCount(t) * float64(t.Elem.Size())
	}
	return w
}

// ElementCount is the number of elements, 0 where only the run will tell.
func ElementCount(t types.Type) float64 {
	if t.Kind == types.Matrix && !t.Known() {
		return 0
	}
	return float64(t.Count())
}

// CountOfFirst is a rule of op.Def.MostRows: a row for each element of input 0.
func CountOfFirst(s *op.Sig) int { return s.In[0].Count() }

// Traffic is the bytes of all inputs and of the result: each is touched at least once.
func Traffic(s *op.Sig, out types.Type) float64 {
	n := float64(out.Bytes())
	for _, t := range s.In {
		n += float64(t.Bytes())
	}
	return n
}

// CopyWork is the cost of moving data once. A window of a large matrix costs what it has.
func CopyWork(s *op.Sig, out types.Type) op.Work {
	if made := CopyBytes(out); out.IsDense() && out.Known() {
		return op.Work{Bytes: min(Traffic(s, out), 2*made)}
	}
	return op.Work{Bytes: Traffic(s, out)}
}

// CopyBytes returns the bytes of a dense matrix, 0 where only the run knows its size.
func CopyBytes(t types.Type) float64 { return ElementCount(t) * float64(t.Elem.Size()) }

// ReadCost is the work of reading every input once, with flops operations per element.
func ReadCost(s *op.Sig, flops float64) op.Work {
	var w op.Work
	for _, t := range s.In {
		w.Flops += flops * ElementCount(t)
		w.Bytes += ElementCount(t) * float64(t.Elem.Size())
	}
	return w
}

// Entries returns the number of elements of input k for costs: the estimate if there is one, else a
// Guess.
func Entries(s *op.Sig, k int) float64 {
	if n, ok := s.Entries(k); ok {
		return n
	}
	return Guess(s.In[k])
}

// Guess returns the number of entries for costs if only the run tells it: eight a row of a sparse
// matrix.
func Guess(t types.Type) float64 {
	if t.Rows < 0 || t.Cols < 0 {
		return 0
	}
	if t.IsSparse() {
		return min(8, float64(t.Cols)) * float64(t.Rows)
	}
	return ElementCount(t)
}

// SparseCost is the work of going over every entry once.
func SparseCost(flops float64) func(*op.Sig, types.Type) op.Work {
	return func(s *op.Sig, out types.Type) op.Work {
		w := op.Work{Bytes: Guess(out) * float64(out.Elem.Size())}
		for k, t := range s.In {
			n := Entries(s, k)
			w.Flops += flops * n
			w.Bytes += n * float64(t.Elem.Size()+4)
		}
		return w
	}
}

// Possible returns the rows with type rules that also refuse a result with a type that is not possible.
// A rule may therefore add and multiply sizes by types.Plus and types.Times without a check of its own.
func Possible(families ...[]*op.Def) [][]*op.Def {
	for _, rows := range families {
		for _, d := range rows {
			rule := d.Type
			if rule == nil {
				continue
			}
			d.Type = func(s *op.Sig) (types.Type, error) {
				for i, t := range s.In { // what a program, a file or another rule says
					if !t.Possible() {
						return types.Type{}, impossible(s, i, t)
					}
				}
				t, err := rule(s)
				if err == nil && !t.Possible() {
					return types.Type{}, impossible(s, -1, t)
				}
				return t, err
			}
		}
	}
	return families
}

// impossible is the refusal of operand i, or of the result where i is -1.
func impossible(s *op.Sig, i int, t types.Type) error {
	what := "this is " + t.String()
	if i < 0 {
		what = "the result is " + t.String()
		if max(t.Rows, t.Cols) == math.MaxInt { // see types.Plus
			what += " or larger"
		}
		if of := matrices(s.In); of != "" {
			what += ", of " + of
		}
	}
	return op.Faultf(i, CodeSize, "`%s`: %s: a matrix has fewer than 2^60 rows, columns and elements", SourceName(s.Def), what)
}

// matrices lists the matrices among types, the first few of many.
func matrices(in []types.Type) string {
	const most = 4
	var list []string
	for _, t := range in {
		if !t.IsMatrix() {
			continue
		}
		if list = append(list, t.String()); len(list) > most {
			list[most] = ".."
			break
		}
	}
	return strings.Join(list, " and ")
}

// InWords is how many elements n x m has.
func InWords(n, m int) string {
	if c := types.Times(n, m); c < math.MaxInt {
		return strconv.Itoa(c)
	}
	return "more than 2^63"
}
