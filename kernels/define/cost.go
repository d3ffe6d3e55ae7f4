package define

// This file defines the costs that rows share, and the sizes behind them.

import (
	"math"
	"strconv"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
)

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

// Entries returns the number of elements of input k for costs: the estimate if there is one, else a Guess.
func Entries(s *op.Sig, k int) float64 {
	if n, ok := s.Entries(k); ok {
		return n
	}
	return Guess(s.In[k])
}

// Guess returns the number of entries for costs if only the run tells it: eight a row of a sparse matrix.
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

// Possible is rows whose type rules refuse what is not Possible. A rule may compute sizes of what
// others allow by types.Plus and types.Times, and leave the verdict to this.
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
