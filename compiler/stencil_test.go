package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/kernels"
)

// This file draws stencils: expressions of shifted slices of a matrix, with borders of several
// kinds, and compares what they give with and without the pass that makes one loop of each.

// stencil is a random program that computes an n x m matrix from another, a few times.
func stencil(rng *rand.Rand) string {
	sizes := []int{3, 4, 5, 8, 9, 13, 20, 70}
	n, m := sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))]
	elem := []string{"f64", "f64", "f32", "i64"}[rng.IntN(4)]
	var b strings.Builder
	fmt.Fprintf(&b, "U0 = materialize(%s(9 * rand(%d, %d, seed = %d)))\n", elem, n, m, rng.IntN(100))
	times := rng.IntN(3)
	if times > 0 {
		fmt.Fprintf(&b, "iterate U = U0 times %d {\n", times)
	} else {
		b.WriteString("U = U0 + 1\n")
	}
	whole := []string{"U"}
	inner := func(x string) string {
		i, j := rng.IntN(3), rng.IntN(3)
		return fmt.Sprintf("%s[%d..%d, %d..%d]", x, i, n-2+i, j, m-2+j)
	}
	if rng.IntN(2) == 0 {
		fmt.Fprintf(&b, "H = %s\n", chainOf(rng, elem, "U", "abs(U)"))
		whole = append(whole, "H")
	}
	x := func() string { return whole[rng.IntN(len(whole))] }
	for k := range rng.IntN(3) {
		name, y := fmt.Sprintf("W%d", k), x()
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "%s = rbind(%s[1.., :], %[2]s[0, :])\n", name, y)
		case 1:
			fmt.Fprintf(&b, "%s = rbind(%s[-1, :], %[2]s[0..-1, :])\n", name, y)
		case 2:
			fmt.Fprintf(&b, "%s = cbind(%s[:, 1..], %s[:, 0])\n", name, y, x())
		case 3:
			fmt.Fprintf(&b, "%s = cbind(%s(zeros(%d, 1)), %s[:, 0..-1])\n", name, elem, n, y)
		case 4:
			fmt.Fprintf(&b, "%s = cbind(%s[:, 0], %[2]s[:, 0..-2], %[2]s[:, -1])\n", name, y)
		default:
			fmt.Fprintf(&b, "%s = t(t(%s)) + reverse(%s)\n", name, y, x())
		}
		whole = append(whole, name)
	}
	next := chainOf(rng, elem, x(), x())
	if rng.IntN(3) > 0 {
		if rng.IntN(2) == 0 {
			point := func() string { return fmt.Sprintf("%s[i + %d, j - %d]", x(), rng.IntN(3)-1, rng.IntN(3)-1) }
			fmt.Fprintf(&b, "new = parfor i in 1..%d, j in 1..%d { %s }\n", n-1, m-1, chainOf(rng, elem, point(), chainOf(rng, elem, point(), point())))
		} else {
			fmt.Fprintf(&b, "new = %s\n", chainOf(rng, elem, inner(x()), chainOf(rng, elem, inner(x()), inner(x()))))
		}
		middle := fmt.Sprintf("cbind(%s[1..-1, 0], new, %s[1..-1, -1])", x(), x())
		next = []string{
			fmt.Sprintf("rbind(%s[0, :], %s, %s[-1, :])", x(), middle, x()),
			fmt.Sprintf("rbind(%s, %s[0..2, :])", middle, x()),
			fmt.Sprintf("%s + rbind(%s(zeros(1, %d)), %s, %s[-1, :])", x(), elem, m, middle, x()),
		}[rng.IntN(3)]
	}
	if times > 0 {
		fmt.Fprintf(&b, "next U = %s(%s)\n}\nemit U\n", elem, next)
	} else {
		fmt.Fprintf(&b, "emit %s\n", next)
	}
	return b.String()
}

// chainOf is an elementwise expression of x and y.
func chainOf(rng *rand.Rand, elem, x, y string) string {
	forms := []string{"max(%s, %s)", "2 * %s - %s", "ifelse(%[1]s > 3, %[1]s, %s)", "(%s + %s) * 3", "%s * %s + 1"}
	if elem == "f64" {
		forms = append(forms, "sqrt(abs(%s)) / 3 + %s", "exp(-abs(%s)) - %s")
	}
	return fmt.Sprintf(forms[rng.IntN(len(forms))], x, y)
}

// reducing matches a loop that has a number among its results.
var reducing = regexp.MustCompile(`= nest\(.*\) : (\(.*, )?(f64|f32|i64|bool)\b[^[]`)

// ended is a stencil whose elements are reduced, too, in each round.
func ended(rng *rand.Rand, text string) string {
	fold := []string{"max(abs(R - U))", "sum(R)", "argmax(R)", "argmin(R * U)", "any(R != U)", "norm(R - U)", "count(R > U)"}[rng.IntN(7)]
	if strings.Contains(text, "\nnew = ") && rng.IntN(2) == 0 { // of what is within the border
		fold = []string{"max(abs(new * 2))", "min(new - 1)", "sum(abs(new))", "mean(new / 2)", "norm(f64(new))", "count(new > 3)", "all(new < 9)", "var(f64(new))"}[rng.IntN(8)]
	}
	if head, last, once := strings.Cut(text, "\nemit "); once && !strings.Contains(text, "iterate") {
		return fmt.Sprintf("%s\nR = %semit %s\nemit R\n", head, last, fold)
	}
	text = strings.Replace(text, "iterate U = U0", "iterate U = U0, d = 0.0", 1)
	text = strings.Replace(text, "next U = ", "R = ", 1)
	return strings.Replace(text, "\n}\n", fmt.Sprintf("\nnext U = R\nnext d = d + f64(%s)\n}\nemit d\n", fold), 1)
}

// TestStencils: stencils run as compiled loops where a loop pays, and give what the definition
// gives.
func TestStencils(t *testing.T) {
	table := tinyTable(t)
	count := 60
	if testing.Short() {
		count = 20
	}
	grouped, reduced := 0, 0
	for seed := range count {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		text := stencil(rng)
		if seed%2 == 1 {
			text = ended(rng, text)
		}
		before := kernels.LoopsBegun()
		rs := append(runs{{1, 1, nil, false, ""}, {1, 3, []string{"simplify"}, false, "FAC2"}, {1, 2, []string{"group"}, false, ""}}, drawRuns(rng)[1:3]...)
		if _, err := rs.differ(table, text); err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
		c, err := compileTiny(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Plan.Graph.String(), "= nest(") {
			if grouped++; reducing.MatchString(c.Plan.Graph.String()) {
				reduced++
			}
			if kernels.LoopsBegun() == before {
				t.Errorf("seed %d: no compiled loop runs\n%s", seed, text)
			}
		}
	}
	if reduced < count/4 {
		t.Errorf("only %d of %d stencils reduce what they make", reduced, count)
	}
	if grouped < count/2 {
		t.Errorf("only %d of %d stencils are one loop", grouped, count)
	}
}
