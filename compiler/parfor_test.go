package compiler_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
)

// This file tests parfor by random bodies: what a program prints by definition is what it prints by
// lanes, and in chunks on several workers.

// bodies draws bodies of scalars. Names are new everywhere, for a block may not bind a name that is
// visible around it.
type bodies struct {
	rng   *rand.Rand
	names int
	f64   []string // names and constants in sight, by type
	i64   []string
	cond  []string
	mats  []matrixName
	fail  bool // indices and divisors may be bad
}

type matrixName struct {
	name       string
	rows, cols int
}

func (b *bodies) name() string { b.names++; return fmt.Sprintf("n%d", b.names) }

// of draws from a list, what was bound last more often.
func (b *bodies) of(list []string) string {
	if b.rng.IntN(3) == 0 {
		return list[len(list)-1]
	}
	return list[b.rng.IntN(len(list))]
}

// float is an expression of type f64.
func (b *bodies) float(depth int) string {
	if depth == 0 {
		return b.of(b.f64)
	}
	switch b.rng.IntN(13) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", b.float(depth-1), b.of([]string{"+", "-", "*", "/"}), b.float(depth-1))
	case 3:
		return fmt.Sprintf("%s(%s)", b.of([]string{"sqrt", "abs", "floor", "exp", "sin", "-"}), b.float(depth-1))
	case 4:
		return fmt.Sprintf("(%s * %s + 0.5)", b.int(depth-1), b.float(depth-1))
	case 5, 6:
		return b.element(depth)
	case 7:
		return fmt.Sprintf("ifelse(%s, %s, %s)", b.bool(depth-1), b.float(depth-1), b.float(depth-1))
	case 8:
		return fmt.Sprintf("%s(%s, %s)", b.of([]string{"min", "max"}), b.float(depth-1), b.float(depth-1))
	case 9:
		return fmt.Sprintf("(%s ^ %s)", b.float(depth-1), b.of([]string{"2", "1.5", "3", "0.5"}))
	case 10, 11:
		return "if " + b.bool(depth-1) + " { " + b.block(depth-1, (*bodies).float) + " } else { " + b.block(depth-1, (*bodies).float) + " }"
	}
	return b.of(b.f64)
}

func (b *bodies) int(depth int) string {
	if depth == 0 {
		return b.of(b.i64)
	}
	switch b.rng.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", b.int(depth-1), b.of([]string{"+", "-", "*"}), b.int(depth-1))
	case 2:
		return fmt.Sprintf("(%s %s %s)", b.int(depth-1), b.of([]string{"//", "%"}), b.of([]string{"2", "3", "7"}))
	case 3:
		if b.fail {
			return fmt.Sprintf("(%s %s (i + %s))", b.int(depth-1), b.of([]string{"//", "%"}), b.int(depth-1))
		}
		return fmt.Sprintf("min(%s, %s)", b.int(depth-1), b.int(depth-1))
	case 4:
		return fmt.Sprintf("i64(clamp(%s, -9.0, 9.0))", b.float(depth-1))
	case 5:
		return fmt.Sprintf("ifelse(%s, %s, %s)", b.bool(depth-1), b.int(depth-1), b.int(depth-1))
	case 6:
		return "if " + b.bool(depth-1) + " { " + b.block(depth-1, (*bodies).int) + " } else { " + b.block(depth-1, (*bodies).int) + " }"
	}
	return b.of(b.i64)
}

func (b *bodies) bool(depth int) string {
	depth = max(depth, 1)
	switch b.rng.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s and %s)", b.bool(depth-1), b.bool(depth-1))
	case 1:
		return fmt.Sprintf("(not %s)", b.bool(depth-1))
	case 2:
		return fmt.Sprintf("(%s %s %s)", b.int(depth-1), b.of([]string{"<", "==", ">=", "!="}), b.int(depth-1))
	case 3:
		return fmt.Sprintf("(%s %% 2 == 0)", b.int(depth-1))
	}
	return fmt.Sprintf("(%s %s %s)", b.float(depth-1), b.of([]string{"<", "<=", ">", "!="}), b.float(depth-1))
}

// element reads a matrix, from the front or counted from the end.
func (b *bodies) element(depth int) string {
	m := b.mats[b.rng.IntN(len(b.mats))]
	at := func(n int) string {
		x := b.int(depth - 1)
		switch {
		case b.fail && b.rng.IntN(6) == 0:
			return "i - " + x
		case b.rng.IntN(4) == 0:
			return fmt.Sprintf("-1 - %s %% %d", x, n)
		}
		return fmt.Sprintf("%s %% %d", x, n)
	}
	return fmt.Sprintf("%s[%s, %s]", m.name, at(m.rows), at(m.cols))
}

// block is statements and a value.
func (b *bodies) block(depth int, value func(*bodies, int) string) string {
	f, i, c := len(b.f64), len(b.i64), len(b.cond)
	var out []string
	for range b.rng.IntN(4) {
		switch b.rng.IntN(5) {
		case 0:
			text := b.float(depth)
			out = append(out, b.let(&b.f64, text))
		case 1:
			text := b.int(depth)
			out = append(out, b.let(&b.i64, text))
		default:
			if depth > 0 {
				out = append(out, b.iterate(depth-1))
			}
		}
	}
	out = append(out, value(b, depth))
	b.f64, b.i64, b.cond = b.f64[:f], b.i64[:i], b.cond[:c]
	return strings.Join(out, "; ")
}

func (b *bodies) let(list *[]string, text string) string {
	n := b.name()
	*list = append(*list, n)
	return n + " = " + text
}

// iterate is a loop of few rounds, of which there are more in some lanes than in others. Its names
// are in sight after it.
func (b *bodies) iterate(depth int) string {
	x, k := b.name(), b.name()
	head := fmt.Sprintf("iterate %s = 1.0 * %s, %s = 0", x, b.of(b.f64), k)
	f, i := len(b.f64), len(b.i64)
	b.f64, b.i64 = append(b.f64, x), append(b.i64, k)
	stop := fmt.Sprintf("until %s >= %s or %s", k, b.of([]string{"1", "5", "i % 23"}), b.bool(depth))
	if b.rng.IntN(4) == 0 {
		stop = fmt.Sprintf("times %d", b.rng.IntN(8))
	}
	var body []string
	if b.rng.IntN(2) == 0 {
		text := b.float(depth)
		body = append(body, b.let(&b.f64, text))
	}
	if depth > 0 && b.rng.IntN(3) == 0 {
		body = append(body, b.iterate(depth-1))
	}
	body = append(body, fmt.Sprintf("next %s = %s", x, b.float(depth)), fmt.Sprintf("next %s = %s + 1", k, k))
	b.f64, b.i64 = append(b.f64[:f], x), append(b.i64[:i], k)
	return head + " " + stop + " { " + strings.Join(body, "; ") + " }"
}

// parfor draws a loop over what m names.
func drawParfor(rng *rand.Rand, mats []matrixName, scalars []string, fail bool) (text string, t types.Type) {
	b := &bodies{rng: rng, mats: mats, fail: fail, f64: append([]string{"0.5", "2.0"}, scalars...), i64: []string{"i", "i", "3"}}
	n := []int{0, 1, 7, 40, 300, 700}[rng.IntN(6)]
	lo, by := rng.IntN(9)-4, 1+rng.IntN(3)
	head := fmt.Sprintf("i in %d..%d by %d", lo, lo+n, by)
	rows, cols := (n+by-1)/by, 1
	if rng.IntN(2) == 0 {
		b.i64 = append(b.i64, "j")
		cols = []int{1, 3, 17}[rng.IntN(3)]
		head += fmt.Sprintf(", j in 0..%d", cols)
	}
	elem, value := types.F64, (*bodies).float
	switch rng.IntN(4) {
	case 0:
		elem, value = types.I64, (*bodies).int
	case 1:
		elem, value = types.Bool, (*bodies).bool
	}
	return "parfor " + head + " { " + b.block(2, value) + " }", types.DenseOf(elem, rows, cols)
}

func TestParfor(t *testing.T) {
	table := tinyTable(t)
	const programs = 150
	failed := 0
	for seed := range uint64(programs) {
		if parforAgrees(t, table, seed+1) {
			failed++
		}
	}
	t.Logf("%d programs, %d failed in the run", programs, failed)
}

// parforAgrees runs the loop of a seed in several ways, and reports whether it fails.
func parforAgrees(t *testing.T, table *op.Table, seed uint64) (failed bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	loop, _ := drawParfor(rng, []matrixName{{"X", 5, 3}, {"Y", 1, 4}, {"Z", 6, 1}}, []string{"s", "u"}, seed%3 == 0)
	text := "X = randn(5, 3, seed = 1)\nY = 10 * rand(1, 4, seed = 2)\nZ = seq(0, 6) - 2.5\ns = sum(X)\nu = 1.5\nv = " + loop + "\nemit v\nemit v[0..0, :]\n"
	o, err := runs{{1, 1, nil, true, ""}, {1, 3, nil, false, ""}, {2, 1, nil, false, ""}}.some(seed).differ(table, text)
	if err != nil {
		t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
	}
	if c, _ := compileTiny(table, text, 1, false, nil); o.failed { // the same iteration, for the same reason
		var want, have *op.Failure
		if got := ran(c, 3); !errors.As(o.err, &want) || !errors.As(got.err, &have) || *want != *have {
			t.Fatalf("seed %d: by definition it fails so:\n%+v\nand in a run\n%+v\nin\n%s", seed, want, have, text)
		}
	}
	return o.failed
}

// rowBody draws a body over tall matrices, whose value is a row or a scalar.
func rowBody(rng *rand.Rand, n int) string {
	b := &bodies{rng: rng}
	tall := []string{"P", "P", "Q"}
	column := []string{"m"}
	row := []string{"P[i, :]", "P[-1 - i % 3, :]", "w", "P[-1, :]"}
	scalar := []string{"0.5", "i", "P[i, 1]", "u"}
	var out []string
	for range 1 + rng.IntN(5) {
		x := b.name()
		switch rng.IntN(11) {
		case 8:
			out = append(out, fmt.Sprintf("%s = %s / (%s + 0.25)", x, b.of(append(scalar, column...)), b.of(column)))
			column = append(column, x)
		case 9:
			out = append(out, fmt.Sprintf("%s = sqrt(%s * %s)", x, b.of(column), b.of(column)))
			column = append(column, x)
		case 10: // the distances from a point
			out = append(out, fmt.Sprintf("%s = rowsum((P - P[i, :]) ^ 2)", x))
			column = append(column, x)
		case 0, 1:
			out = append(out, fmt.Sprintf("%s = %s %s %s", x, b.of(tall), b.of([]string{"+", "-", "*"}), b.of(append(append(tall[:len(tall):len(tall)], row...), column...))))
			tall = append(tall, x)
		case 2, 3:
			out = append(out, fmt.Sprintf("%s = rowsum(%s)", x, b.of(append(tall[:len(tall):len(tall)], column...))))
			column = append(column, x)
		case 4:
			out = append(out, fmt.Sprintf("%s = %s ^ %s", x, b.of(column), b.of([]string{"2", "1.5", "3", "0.5"})))
			column = append(column, x)
		case 5:
			out = append(out, fmt.Sprintf("%s = ifelse(%s < %s, %s, %s)", x, b.of(column), b.of(scalar), b.of(column), b.of(scalar)))
			column = append(column, x)
		case 6:
			out = append(out, fmt.Sprintf("%s = sum(%s) / %d", x, b.of(append(tall[:len(tall):len(tall)], column...)), n))
			scalar = append(scalar, x)
		default:
			out = append(out, fmt.Sprintf("%s = %s * %s + %s", x, b.of(row), b.of(scalar), b.of(row)))
			row = append(row, x)
		}
	}
	value := fmt.Sprintf("colsum(%s * %s) + %s", b.of(tall), b.of(column), b.of(row))
	if rng.IntN(3) == 0 {
		value = fmt.Sprintf("sum(%s) * %s", b.of(tall), b.of(scalar))
	}
	return strings.Join(append(out, value), "; ")
}

// rowData are bodies' positions P and weights m of n rows: ordinary numbers, and those that a fast
// sum must notice.
var rowData = []string{
	"P = randn(%[1]d, 3, seed = 1)\nm = randn(%[1]d, 1, seed = 3)\n",
	"P = randn(%[1]d, 3, seed = 1)\nm = randn(%[1]d, 1, seed = 3)\n",
	"P = cbind(rand(%[1]d, 2, seed = 1), zeros(%[1]d, 1))\nm = ones(%[1]d, 1)\n",                                       // sums that are zero
	"P = floor(18 * rand(%[1]d, 3, seed = 1)) - 9\nm = floor(5 * rand(%[1]d, 1, seed = 3)) - 2\n",                      // that are exact
	"P = cbind(randn(%[1]d, 2, seed = 1), seq(0, %[1]d) - 0.5 * (%[1]d - 1))\nm = seq(0, %[1]d) - 0.5 * (%[1]d - 1)\n", // that cancel
	"P = exp(40 * randn(%[1]d, 3, seed = 1))\nm = exp(30 * randn(%[1]d, 1, seed = 3))\n",                               // of wide terms
	"P = 1e160 * randn(%[1]d, 3, seed = 1)\nm = 1e-150 * randn(%[1]d, 1, seed = 3)\n",                                  // squares that overflow
	"P = 1e-160 * randn(%[1]d, 3, seed = 1)\nm = randn(%[1]d, 1, seed = 3)\n",                                          // or are subnormal
	"P = rand(%[1]d, 3, seed = 1) - 0.5\nm = seq(0, %[1]d) / (seq(0, %[1]d) - 7)\n",                                    // an infinity
	"P = 0.0 / f64(rand(%[1]d, 3, seed = 1) > 0.01)\nm = randn(%[1]d, 1, seed = 3)\n",                                  // NaNs
	"P = f64(f32(rand(%[1]d, 3, seed = 1)))\nm = f64(f32(rand(%[1]d, 1, seed = 3)))\n",                                 // short numbers, whose sums are ties
	"P = 1000 * ifelse(rand(%[1]d, 3, seed = 1) < 0.01, 1e9, 1e-9) * randn(%[1]d, 3, seed = 5)\nm = ones(%[1]d, 1)\n",  // terms that grow
}

func TestParforRows(t *testing.T) {
	table := tinyTable(t)
	seeds := uint64(15 * len(rowData))
	if testing.Short() {
		seeds /= 4
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := []int{16, 20, 64, 65, 127, 128, 513, 700}[rng.IntN(8)]
		text := fmt.Sprintf(rowData[seed%uint64(len(rowData))]+"Q = 10 * rand(%[1]d, 3, seed = 2) - 5\nw = randn(1, 3, seed = 4)\nu = sum(w)\n"+
			"emit parfor i in 0..9 { %[2]s }\n", n, rowBody(rng, n))
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {2, 1, nil, false, ""}}).some(seed).differ(table, text); err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
}
