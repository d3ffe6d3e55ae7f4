package flow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// This file draws random programs in which several statements may fail, with emits between them.

// failingHead is the head of every program. k is 9 and z is 0, which only the run knows.
var failingHead = []string{
	`fn guard(x, lo) { assert min(x) >= lo, fmt("the least is {}", min(x)); x }`,
	"C0 = materialize(rand(5, 1, seed = 1))",
	"B = materialize(seq(0, 5))",
	"M0 = materialize(rand(12, 9, seed = 2))",
	"N0 = materialize(i64(M0 * 10))",
	"S = rand_spd(8, seed = 3)",
	"k = i64(max(C0)) * 0 + 9",
	"z = k - 9",
}

// writeBroken writes the input file of which a row is broken.
func writeBroken(t *testing.T) {
	t.Helper()
	text := strings.Repeat("1,2\n", 400) + "1,no number\n" + strings.Repeat("1,2\n", 20)
	if err := os.WriteFile("broken.csv", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// failing is a program, a statement a line.
type failing struct {
	rng                 *rand.Rand
	lines               []string
	cols, mats, scalars []string // names of 5 x 1 and 12 x 9 matrices of f64, of scalars of f64
}

func (p failing) text() string {
	return strings.Join(append(slices.Clone(failingHead), p.lines...), "\n") + "\n"
}

// smaller leaves out statements while the program still differs.
func (p failing) smaller(differs func(failing) bool) failing {
	for i := len(p.lines) - 1; i >= 0; i-- {
		q := p
		if q.lines = slices.Delete(slices.Clone(p.lines), i, i+1); differs(q) {
			p = q
		}
	}
	return p
}

func newFailing(rng *rand.Rand) failing {
	p := failing{rng: rng, cols: []string{"C0"}, mats: []string{"M0"}, scalars: []string{"sum(C0)"}}
	for range 6 + rng.IntN(12) {
		p.statement(fmt.Sprintf("x%d", len(p.lines)))
	}
	for _, c := range slices.Concat(p.cols[1:], p.mats[1:]) {
		if rng.IntN(2) == 0 {
			p.add("emit sum(%s)", c)
		}
	}
	return p
}

func (p *failing) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *failing) one(of ...string) string { return of[p.rng.IntN(len(of))] }

func (p *failing) col() string { return p.one(p.cols...) }
func (p *failing) mat() string { return p.one(p.mats...) }

// off is 0 most of the time, and 9 where the statement shall fail.
func (p *failing) off() string { return p.one("z", "z", "z", "z", "z", "z", "k") }

// shift makes an i64 matrix of 0, 1, .. one of divisors: without a zero most of the time.
func (p *failing) shift() string { return p.one("+ 1", "+ 1", "+ 2", "+ 3", "+ 1", "- 2", "- z") }

func (p *failing) statement(x string) {
	rng := p.rng
	switch rng.IntN(29) {
	case 0, 1, 2:
		p.emit(x)
	case 3:
		p.add(`assert %s %% 7 == 0, "%s"`, p.off(), x)
	case 4:
		p.add(`assert sum(%s) < 1e9 - 1e9 * f64(%s), fmt("%s is {}", sum(%s))`, p.col(), p.off(), x, p.col())
	case 5, 6:
		p.branch(x)
	case 7:
		p.add("%s = 1 // %s", x, p.one("z", "k")) // nothing reads it
	case 8, 9, 27, 28:
		p.tiles(x)
	case 10:
		p.add("for i in 0..3 { emit B[i, 0] // (B[i, 0] %s) }", p.shift())
	case 11:
		p.scalar(x)
	case 12, 13, 14, 15:
		p.matrix(x)
	default:
		p.column(x)
	}
}

func (p *failing) emit(x string) {
	switch p.rng.IntN(8) {
	case 0:
		p.add("emit %s", p.col())
	case 1:
		p.add("emit %s + %s as %q", p.mat(), p.mat(), x)
	case 2:
		p.add("emit %s[%s, 0]", p.col(), p.off())
	case 3:
		p.add("emit 7 // (9 - %s)", p.off())
	case 4:
		p.add("emit %s to \"out%s.csv\"", p.col(), x)
	case 5:
		p.add("emit %q", x)
	default:
		p.add("emit %s", p.one(p.scalars...))
	}
}

// branch is an if that emits, in which something may fail.
func (p *failing) branch(x string) {
	inner := []string{
		fmt.Sprintf("emit sum(%s)", p.col()),
		fmt.Sprintf("emit 5 // (9 - %s)", p.off()),
		fmt.Sprintf("emit guard(%s, %s)", p.col(), p.one("-1e300", "-1e300", "1e300")),
		fmt.Sprintf("emit %q", x),
		fmt.Sprintf("emit sum(i64(%s) // (B %s))", p.col(), p.shift()),
		fmt.Sprintf("if %s > 3 { emit %q } else { emit 8 // (9 - %s) }", p.off(), x, p.off()),
		fmt.Sprintf("emit sum(parfor i in 0..5 { %s[i + %s, 0] })", p.col(), p.off()),
	}
	p.rng.Shuffle(len(inner), func(i, j int) { inner[i], inner[j] = inner[j], inner[i] })
	n := 1 + p.rng.IntN(4)
	p.add("if %s == 0 { %s } else { %s }", p.off(), strings.Join(inner[:n], "; "), inner[n])
}

// tiles sends tile by tile; some sends fail.
func (p *failing) tiles(x string) {
	c := "c" + x
	between := "" // before anything of this rank reads what the others send
	if p.rng.IntN(2) == 0 {
		between = fmt.Sprintf("emit %s", p.one(p.scalars...))
	}
	p.add("%s", strings.Join([]string{
		fmt.Sprintf("chan %s = tiles(%s, 4)", c, p.mat()),
		fmt.Sprintf("for i in 0..3, j in 0..3 { %s[i, j] <- %s[i, j] %s }", c, c, p.one(
			fmt.Sprintf("* f64(7 // (%s - %s - 1))", p.one("z", "k - 7"), p.one("i", "j")),
			fmt.Sprintf("+ C0[i + %s%s, 0]", p.off(), p.one("", " * j")), // on another rank than the first where j is 1
			fmt.Sprintf("- f64(guard(fill(i + j, 1, 1), %s)[0, 0])", p.one("0", "0", "2")))),
		between,
		fmt.Sprintf("%s = untile(%s)", x, c),
	}, "\n"))
	p.mats = append(p.mats, x)
	if p.rng.IntN(3) == 0 {
		p.add("emit sum(%s[1, 0])", c)
	}
}

func (p *failing) scalar(x string) {
	p.add("%s = %s", x, p.one(
		fmt.Sprintf("sum(%[1]s[%[2]s..%[2]s + 2, :])", p.col(), p.off()),
		fmt.Sprintf("f64(i64(1.0 / f64(9 - %s)))", p.off()),
		fmt.Sprintf("sum(cholesky(S - f64(%s) * 5 * eye(8), tile = 3))", p.off()),
		fmt.Sprintf("sum(solve(S * (1 - f64(%s) / 9), S[:, 0..2]))", p.off()),
		fmt.Sprintf("sum(potrf(S - f64(%s) * 5 * eye(8)))", p.off()),
		fmt.Sprintf("sum(read(\"broken.csv\")[:, %s])", p.one("0", "1")),
		fmt.Sprintf("max(%s[%s..5, :]) + f64(7 // (9 - %s))", p.col(), p.one("i64(sum(B)) - 10", "i64(sum(B)) - 5"), p.off()),
	))
	p.scalars = append(p.scalars, x)
}

func (p *failing) matrix(x string) {
	p.add("%s = %s", x, p.one(
		fmt.Sprintf("%s %s %s", p.mat(), p.one("+", "*", "-"), p.mat()),
		fmt.Sprintf("exp(%s) / 2 - %s", p.mat(), p.mat()),
		fmt.Sprintf("f64(N0 // (i64(%s * 10) %s))", p.mat(), p.shift()),
		fmt.Sprintf("f64(N0 %% (N0 %s)) + %s", p.shift(), p.mat()),
		fmt.Sprintf("parfor i in 0..12, j in 0..9 { %s[i, j] + %s[i + %s, j] }", p.mat(), p.mat(), p.off()),
		fmt.Sprintf("parfor i in 0..12 { %s[i, :] * %s[%s, 0] }", p.mat(), p.col(), p.off()),
		fmt.Sprintf("parfor i in 0..12 { r = %s[i, :] * 2; if sum(r) > 8 { r } else { r + f64(3 // (i - 12 + %s)) } }", p.mat(), p.one("z", "k")),
		fmt.Sprintf("guard(%s, %s)", p.mat(), p.one("-1e300", "-1e300", "-1e300", "1e300")),
		fmt.Sprintf("%s - rowsum(%s) * f64(1 // (1 + %s * 2))", p.mat(), p.mat(), p.off()),
		fmt.Sprintf("(%s @ t(%s)) @ %s", p.mat(), p.mat(), p.mat()),
		fmt.Sprintf("f64(rbind(i64(%s[1.., :] / f64(9 - %s)), N0[0, :])) + %s", p.mat(), p.off(), p.mat()),
		fmt.Sprintf("%s + i64(1e19 * f64(%s) * rbind(N0[1.., :] + N0[0..-1, :], zeros(1, 9)))", p.mat(), p.off()),
	))
	p.mats = append(p.mats, x)
}

func (p *failing) column(x string) {
	p.add("%s = %s", x, p.one(
		fmt.Sprintf("%s %s %s", p.col(), p.one("+", "*", "-"), p.col()),
		fmt.Sprintf("parfor i in 0..5 { %s[i, 0] + %s[i + %s, 0] }", p.col(), p.col(), p.off()),
		fmt.Sprintf("parfor i in 0..5 { if %s[i, 0] > 0.5 { %s[%s, 0] } else { 2.0 } }", p.col(), p.col(), p.off()),
		fmt.Sprintf("parfor i in 0..5 { %s[i, 0] * %s[4 - i - %s, 0] }", p.col(), p.col(), p.off()),
		fmt.Sprintf("parfor i in 0..5 { iterate y = %s[i, 0] times 6 { next y = y * 0.5 + %s[%s, 0] }; y }", p.col(), p.col(), p.off()),
		fmt.Sprintf("f64((i64(%s) + 3) %s (B %s))", p.col(), p.one("//", "%"), p.shift()),
		fmt.Sprintf("f64(i64(%s) // (B %s)) + f64(B %% (B %s))", p.col(), p.shift(), p.shift()),
		fmt.Sprintf("take(%s, B + %s)", p.col(), p.off()),
		fmt.Sprintf("guard(%s, %s) * 2", p.col(), p.one("-1e300", "-1e300", "-1e300", "1e300")),
		fmt.Sprintf("rbind(%[1]s[%[2]s..%[2]s + 3, :], %[3]s[0..2, :])", p.col(), p.off(), p.col()),
	))
	p.cols = append(p.cols, x)
	if p.rng.IntN(6) == 0 {
		l := "L" + x
		p.add("iterate %s = %s, n%s = 0 until n%s == 6 { next %s = %s * 0.5 + C0[n%s * %s, 0]; next n%s = n%s + 1 }", l, p.col(), x, x, l, l, x, p.off(), x, x)
		p.cols = append(p.cols, l)
	}
}
