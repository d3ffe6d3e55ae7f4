package format

import (
	"math"
	"strings"
	"testing"

	"flow/memory"
)

// Records with quotes are numbers as those without are, whichever way they are read; what a shortcut
// may not read is told as before.
func TestQuotedNumbers(t *testing.T) {
	for _, c := range []struct {
		line, bare string
		want       []float64 // nil: a failure
	}{
		{`"1.5",2,"-3"`, `1.5,2,-3`, []float64{1.5, 2, -3}},
		{`"", "NA" ,4`, ``, nil}, // a blank behind a quote
		{`"", "NA",4`, `,NA,4`, []float64{math.NaN(), math.NaN(), 4}},
		{`" 7 ",8,"9"`, ` 7 ,8,9`, []float64{7, 8, 9}},
		{`"1,5",2,3`, ``, nil},
		{`1"2",3,4`, ``, nil},
		{`"1""2",3,4`, ``, nil},
		{`"1",2`, `1,2`, nil},
		{`"x",2,3`, `x,2,3`, nil},
	} {
		if got := string(unquoted(nil, []byte(c.line), ',')); got != c.bare {
			t.Errorf("%s without quotes is %q, want %q", c.line, got, c.bare)
		}
		r := newCSV(&input{file: "a.csv", memory: memory.Limit{Bytes: 1 << 20}}, Options{Sep: ','})
		r.cols, r.first = 3, 1
		got, err := r.numbers(nil, []byte(c.line), true)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v", c.line, got, err)
		}
		for k, x := range c.want[:min(len(c.want), len(got))] {
			if got[k] != x && !(math.IsNaN(x) && math.IsNaN(got[k])) {
				t.Errorf("%s: %v, want %v", c.line, got, c.want)
			}
		}
		if err != nil && !strings.Contains(err.Error(), "a.csv") {
			t.Errorf("%s: %v does not name the file", c.line, err)
		}
	}
}
