package loop

import (
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	for _, c := range []struct{ text, tokens string }{
		{"a_1 := add(x, 2)", "a_1 : = add ( x , 2 )"},
		{"0..n 1.5..2 1. .5 1.x", "0 .. n 1.5 .. 2 1 . . 5 1 . x"},
		{"1e5 2.5e-3 1e+7 1e 1ex 2e-x", "1e5 2.5e-3 1e+7 1 e 1 ex 2 e - x"},
		{`"a\"b" "c\\" "d`, `"a\"b" "c\\" " d`},
		{"x # y z\nw # no end", "x w"},
		{"é\t\r\xff", "é \xff"},
		{"", ""},
	} {
		if tokens, _ := scan(c.text); strings.Join(tokens, " ") != c.tokens {
			t.Errorf("%q is cut into %q, want %s", c.text, tokens, c.tokens)
		}
	}
	if _, lines := scan("a b # c\n\n d\ne"); !slices.Equal(lines, []int{1, 1, 3, 4}) {
		t.Errorf("the tokens stand on the lines %v", lines)
	}
}
