package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A parfor with elementwise neighbours gives what each gives by itself, whatever part of them is one
// loop, on any number of workers and ranks, and fails in the same iteration.
func TestParforNeighbours(t *testing.T) {
	table := tinyTable(t)
	for _, row := range []string{"b", "b[0, :]", "if k > 1 { b } else { b }"} { // a row that is there: no loop over numbers
		text := fmt.Sprintf(`b = materialize(rand(1, 2, seed = 26) < 0.5)
k = materialize(randint(1, 1, 0, 3, seed = 1))[0, 0]
c = parfor i in 0..1 { %s }
emit ifelse(ifelse(c, b, k > 1), k + 0.5, 2.0)
`, row)
		if out, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"fuse"}, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil || out.err != nil {
			t.Errorf("%v, %v\nin\n%s", err, out.err, text)
		}
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 17))
		n, m := 1+rng.IntN(300), 1+rng.IntN(4)
		text := neighbours(rng, n, m)
		without := []string{"fuse"}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {1, 2, without, false, ""}, {1, 2, []string{"group"}, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
}

// neighbours is a program of one parfor over n x m places, or over n rows, with chains before and
// after it.
func neighbours(rng *rand.Rand, n, m int) string {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	var b strings.Builder
	fmt.Fprintf(&b, "A = %s\n", pick(fmt.Sprintf("materialize(rand(%d, %d, seed = 1))", n, m), fmt.Sprintf("rand(%d, %d, seed = 4)", n, m), fmt.Sprintf("fill(0.5, %d, %d)", n, m)))
	fmt.Fprintf(&b, "r = rand(1, %d, seed = 2)\nc = f32(rand(%d, 1, seed = 3))\nk = i64(%d * rand(%d, %d, seed = 5))\ns = sum(r)\n", m, n, 7, n, m)
	operand := func() string {
		return pick("A", "r", "f64(c)", "s", "2", "k", "f64(A > 0.5)", "(A - r)", "nan", "-0.0")
	}
	chain := func(x string) string {
		for range 1 + rng.IntN(3) {
			x = fmt.Sprintf(pick("(%s + %s)", "(%s * %s)", "max(%s, %s)", "(%s - %s)", "ifelse(%s > 0.4, %s, A)"), x, operand())
			x = fmt.Sprintf(pick("%s", "%s", "abs(%s)", "-%s", "sqrt(%s)"), x)
		}
		return x
	}
	fmt.Fprintf(&b, "x = %s\ny = %s\n", chain("A"), pick(chain("k"), chain("A"), "k + 1", "A"))
	loop, at := fmt.Sprintf("i in 0..%d, j in 0..%d", n, m), func() string { return "[i, j]" }
	if rng.IntN(3) == 0 {
		col := rng.IntN(m)
		loop, at = fmt.Sprintf("i in %s", pick(fmt.Sprintf("0..%d", n), fmt.Sprintf("0..%d", (n+1)/2), fmt.Sprintf("%d..%d", n/2, n), fmt.Sprintf("0..%d by 2", n))), func() string { return fmt.Sprintf("[i, %d]", col) }
	}
	read := func() string {
		return pick("x"+at(), "x"+at(), "f64(y"+at()+")", "A"+at(), "f64(i)", "x[i, 0]", "x[i // 2, 0]", "r[0, 0]", "x["+pick("i + 1", "-1 - i")+", 0]")
	}
	fmt.Fprintf(&b, "z = parfor %s {\n %s\n}\n", loop, fmt.Sprintf(pick("%s + %s", "if %s > 0.5 { %s } else { x"+at()+" }",
		"iterate a = %s, n1 = 0 until a > 4 or n1 == 9 { next a = a * 1.5 + %s\n next n1 = n1 + 1 }\n a",
		"g = %s\n if g > 0.3 { if %s > 0.5 { g } else { x"+at()+" * 2 } } else { g - 1 }"), read(), read()))
	if rng.IntN(4) > 0 && strings.Contains(loop, ", j") {
		fmt.Fprintf(&b, "w = %s\n", chain("z"))
	} else {
		fmt.Fprintf(&b, "w = %s\n", pick("z * 2 + s", "z", "z > 0.5", "z * z - 1"))
	}
	b.WriteString(pick("emit w\n", "emit sum(w)\n", "emit w\nemit z\n", "emit w\nemit x\n", "emit rowsum(w * 2)\n"))
	return b.String()
}
