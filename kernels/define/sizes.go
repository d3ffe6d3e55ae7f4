package define

// This file refuses calls whose result would have a size that no matrix has.

import (
	"math"
	"strconv"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
)

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
