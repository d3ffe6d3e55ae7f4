package compiler_test

import (
	"fmt"
	"strings"
	"testing"
)

// Several reductions of a stored matrix make one pass over it, of any element type, whole or a part
// of another.
func TestReductionsOfAStoredMatrix(t *testing.T) {
	table := tinyTable(t)
	of := map[string][]string{
		"f64(%s)": {"sum", "mean", "max", "min", "norm", "var"}, "f32(%s)": {"sum", "mean", "max", "min", "norm", "var"}, "i64(9 * %s)": {"sum", "mean", "max", "min", "prod", "count"},
		"(%s > 0.5)": {"sum", "mean", "max", "any", "count", "all"},
	}
	for _, shape := range []string{"2100, 1", "1, 2100", "70, 30", "3, 2000", "40, 60"} {
		for elem, reductions := range of {
			x := fmt.Sprintf(elem, "rand("+shape+", seed = 1)")
			for _, part := range []string{"X", "X[1.., :]", "X[:, 0..-1]", "t(X)"} {
				if strings.HasPrefix(shape, "1,") && part == "X[1.., :]" || strings.HasSuffix(shape, " 1") && part == "X[:, 0..-1]" {
					continue
				}
				columns := len(shape)%2 == 0 // those of columns go over rows, the others over one long row
				text := "X = materialize(" + x + ")\nY = " + part + "\n"
				for k, f := range reductions {
					text += fmt.Sprintf("emit %s(Y)\n", f)
					if columns && k%2 == 0 {
						text += "emit sum(col" + strings.NewReplacer("norm", "sum", "count", "sum").Replace(f) + "(Y))\n"
					}
				}
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, false, ""}, {1, 2, []string{"fuse"}, false, ""}}).differ(table, text); err != nil {
					t.Fatalf("%v\nin\n%s", err, text)
				}
			}
		}
	}
}
