package compiler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/kernels"
	"flow/runtime/local"
	"flow/stdlib"
)

// This file holds passes that move what may fail to the program's order: of several failures the
// first is told, with its place, and what is emitted before it and no more has been printed by
// then.

// firstFailures are programs in which two things fail, or an emit stands between what fails and
// what it is fused with. k is 9 and z is 0, which only the run knows.
var firstFailures = []string{
	// What stands between a loop and the operators behind it.
	"p = parfor i in 0..5 { A[i + k, 0] }\nemit A\nemit p + A",
	"p = parfor i in 0..5 { A[i + k, 0] }\nassert z > 0, \"between\"\nemit p + A",
	"p = parfor i in 0..5 { A[i + k, 0] }\nemit 1 // z\nemit p + A",
	"p = parfor i in 0..5 { A[i + k, 0] }\nemit z\nc = rowsum(A)\nemit p + c",
	"p = parfor i in 0..5 { A[i + k, 0] }\nq = parfor i in 0..5 { B[i - k, 0] }\nemit p + q",
	"p = parfor i in 0..5 { B[i, 0] // z }\nc = potrf(-eye(5) * k)[:, 0..1]\nemit (p * 2 + c) * 3",
	"p = parfor i in 0..5 { B[i, 0] % z }\nc = A[k..k + 2, :]\nemit p * sum(c)",
	"p = parfor i in 0..5, j in 0..1 { if A[i, 0] > 0 { A[k, j] } else { A[i, j] } }\nemit 7 as \"seven\"\nemit (p - 1) / (A + 1)",
	"p = parfor i in 0..5 { iterate x = A[i, 0] times 3 { next x = x + A[k, 0] }; x }\nemit 7\nemit sqrt(p)",
	"iterate x = A, n = 0 until n == 3 { p = parfor i in 0..5 { x[i + k, 0] }; q = B // z; next x = p + x + sum(q); next n = n + 1 }\nemit x",
	"p = parfor i in 0..5 { B[i, 0] }\nemit A[k, 0]\nemit p + 2 * B",
	// What stands between a matrix of codes and the sum by group that it becomes.
	"p = onehot(B[:, 0] + k, 3)\nemit 7\nemit t(p) @ A",
	"emit 7\np = onehot(B[:, 0] + k, 3)\nassert z > 0, \"between\"\nemit colsum(p)",
	"emit t(onehot(B[:, 0] + k, 3)) @ f64(B // z)",
	"p = onehot(B[:, 0] + k, 3)\nq = colsum(p)\nemit 7\nassert z > 0, \"between\"\nemit t(p) @ A\nemit q",
	// Two loops of a body become one, which checks what the second relies on before it begins.
	"emit parfor i in 0..30 { a = parfor j in 0..300 { C[j, 0] * f64(i) }; b = parfor j in 0..300 { 100 // (j - i) }; norm(a) + norm(b) }",
	"emit parfor i in 0..30 { a = parfor j in 0..300 { C[j, 0] * f64(i) }; b = parfor j in 0..300 { C[i64(C[j, 1] * 4) * k * 1000000000 * i, 0] }; norm(a) + norm(b) }",
	"emit parfor i in 0..30 { q = i64(C[i, 1] * 4) * k * 1000000000; sum(C[i..i + 200, 0]) + sum(C[q..q + 200, 1]) }",
	// A subscript that is in no matrix, in a loop whose range only the run knows.
	"emit t(parfor i in 0..30 { f = i64(C[i, 0] * 4) * k * 1000000000; sum(parfor j in f..f + 3 { C[j, 1] }) })",
	// A carried matrix that grows in a body.
	"emit 7\nemit parfor i in 0..5 { iterate y = C[0..i + 4, 0..1], n = 0 until n == 2 { next y = rbind(y, y); next n = n + 1 }; sum(y) }",
	"emit parfor i in 0..5 { iterate y = C[0..i + 4, 0..1], n = 0 until n == i { next y = y[0..3, :]; next n = n + 1 }; sum(y) }\nemit 1 // z",
	// Operators over rows become one task where the last of them is, or where something reads the first.
	"I = seq(0, 300) % 2\nJ = i64(C * 1e17)\nH = onehot(I + k, 2) @ rand(2, 3, seed = 1)\nK = J % ((J % J) // 3)\nemit K * I\nemit H",
	"I = seq(0, 300) % 2\nemit 1 // (1 - I[0..2, :])\nJ = i64(C * 1e17) + 1\nK = J % ((J % J) // 3)\nemit K * I",
	"p = rowmax(C)\nemit sum(p)\nq = i64(C * 10) // z\nemit rowsum(exp(C - p) * q)",
	// The same of chains.
	"p = B // z\nemit 7\nemit p + 1",
	"p = B // z\nassert z > 0, \"between\"\nemit sum(p + 1)",
	"p = B // (B - 3)\nq = B % (B - 1)\nemit p + q",
	"p = B // (B - 3)\nemit (p * 2) % (B - 1)",
	"p = B % (B - 3)\nq = parfor i in 0..5 { A[i + k, 0] }\nemit p * 2 - q",
	"p = ceildiv(B, B)\nc = p * 2\nemit A[k, 0]\nemit c as \"c\"\nemit rowsum(c + 1)",
	"p = B // 2\nemit 7\nemit p + 1\nemit A[k, 0]",
	// Floats that are no i64. Which of several is told does not depend on what the operator is
	// fused with, or how it is cut.
	"emit 7\np = i64(A / z)\nemit 8\nemit p + 1",
	"p = i64(f32(B) * f32(nan))\nassert z > 0, \"between\"\nemit sum(p * 2)",
	"p = f64(i64(C * 1e19)) / 2 + C\nemit p\nemit A[k, 0]",
	"p = i64(C * -1e19)\nemit sum(p * p)",
	"p = i64(f32(C) * f32(1e19))\nq = i64(C / f64(z))\nemit p + q",
	"p = i64(C * 1e19 - 9e18)\nq = p // i64(C * 3)\nemit rowsum(q)\nemit colsum(p)",
	"p = parfor i in 0..300, j in 0..3 { i64(C[i, j] * 1e19) + i }\nemit p",
	"p = parfor i in 0..300 { if C[i, 0] > 0.99 { i64(C[i, 0] / f64(z)) } else { i64(0.0) } }\nemit p",
	"p = parfor i in 0..300 { iterate x = C[i, 0], n = 0 until x > 1e19 { next n = i64(x); next x = x * 10 }; n }\nemit p",
	"x = seq(0, 5)[0..i64(max(A) / f64(z)), :]\nemit x",
	"p = i64(t(C) * 1e19)[2, :]\nemit p\nemit i64(C[3, 0] * 1e300)",
	"iterate x = A until i64(max(x)) < 0 { next x = x * 1e7 }\nemit x",
	// A part that no window meets fails all the same.
	"emit 7\nemit rbind(A, f64(B // z), A)[0..4, :]",
	"p = cbind(C, f64(i64(C * 1e19)))\nemit p[0, 2]\nemit p[3..9, 0..3]",
	// A loop without a round fails nowhere.
	"iterate x = sum(A) until x > 0 { next x = x + sum(A[k..k + 2, :]) }\nemit x",
}

const firstFailureHead = "A = materialize(rand(5, 1, seed = 1))\nB = materialize(seq(0, 5))\nk = i64(max(A)) * 0 + 9\nz = k - 9\n" +
	"C = materialize(rand(300, 3, seed = 6))\n"

// failed is a run's failure and where in the text it is told.
type failed struct {
	op.Failure
	from, to int32
}

// failedAt is err, of node id or of one that steps lead to from there.
func failedAt(t *testing.T, g *ir.Graph, id ir.ID, steps []ir.Step, err error) failed {
	t.Helper()
	var f *op.Failure
	in, at, ok := g.Follow(id, steps)
	if !errors.As(err, &f) || !ok {
		t.Fatalf("%v", err)
	}
	x := failed{Failure: *f, from: int32(f.At.From), to: int32(f.At.To)}
	if f.At == (op.Place{}) {
		s := in.Nodes[at].Span
		x.from, x.to = int32(s.From), int32(s.To)
	}
	x.At = op.Place{} // from and to hold it, or the node's
	return x
}

// byDefinition is what the reference evaluator prints of g, and how it fails.
func byDefinition(t *testing.T, g *ir.Graph) (out string, f failed) {
	t.Helper()
	o := evaluated("", g)
	var e *eval.Error
	if errors.As(o.err, &e) {
		f = failedAt(t, g, e.Node, e.Within, e.Err)
	} else if o.err != nil {
		t.Fatal(o.err)
	}
	return o.out, f
}

// sameFirst compiles text without each of some passes, and holds plans and runs to what it means.
func sameFirst(t *testing.T, text string) (fails bool) {
	t.Helper()
	table := tinyTable(t)
	for _, disable := range [][]string{nil, {"fuse"}, {"hoist", "keep"}, {"fuse", "partition"}} {
		c, err := compileTiny(table, text, 1, false, disable)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		out, want := byDefinition(t, c.Program)
		fails = want != failed{}
		if o, f := byDefinition(t, c.Plan.Graph); o != out || f != want {
			t.Errorf("without %v the plan prints %q and fails so: %+v\nwant %q, %+v\nof\n%s", disable, o, f, out, want, text)
		}
		o := ran(c, 2)
		if o.out != out {
			t.Errorf("without %v a run prints %q\nwant %q of\n%s", disable, o.out, out, text)
		}
		if f := ranInto(t, c, o.err); f != want {
			t.Errorf("without %v a run fails so: %+v\nwant %+v of\n%s", disable, f, want, text)
		}
	}
	return fails
}

// ranInto is a run's failure.
func ranInto(t *testing.T, c *compiler.Result, err error) failed {
	t.Helper()
	var f *local.TaskFailure
	switch {
	case err == nil:
		return failed{}
	case !errors.As(err, &f):
		t.Fatal(err)
	}
	return failedAt(t, c.Plan.Graph, f.Node, f.Within, f.Err)
}

func TestFirstFailure(t *testing.T) {
	for _, text := range firstFailures {
		if fails := sameFirst(t, firstFailureHead+text+"\n"); fails == strings.Contains(text, "until x > 0") {
			t.Errorf("fails: %v\n%s", fails, text)
		}
	}
}

// A reduction of a long column runs it as one row: which of its elements fails is found by number.
func TestFirstFailureOfLongColumn(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"emit sum(1000 // (seq(0, 70_000) - 900))",
		"x = materialize(seq(0, 70_000))\nemit sum(1000 // (x - 900))",
		"emit max(i64(1e19 * rand(70_000, 1, seed = 1)))",
		"x = materialize(reshape(seq(0, 140_000), 70_000, 2))\nemit max(1000 // (x * x - 900))",
	} {
		c, ds := compiler.Compile(context.Background(), "p.flow", []byte(text), compiler.Options{Table: table, Ranks: 1, Std: stdlib.Files})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		_, want := byDefinition(t, c.Program)
		if f := ranInto(t, c, ran(c, 2).err); f != want || want == (failed{}) {
			t.Errorf("a run fails so: %+v\nwant %+v of\n%s", f, want, text)
		}
	}
}

// The same of random programs of loops, divisions, chains, asserts and emits, some of which fail,
// in any order.
func TestFirstFailureOfMany(t *testing.T) {
	failures := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 23))
		if sameFirst(t, failing(rng)) {
			failures++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if failures < 20 || failures > 58 {
		t.Errorf("%d of 60 programs fail", failures)
	}
}

// failing is a random program.
func failing(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString(firstFailureHead)
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	values := []string{"A", "B"}
	value := func() string { return values[rng.IntN(len(values))] }
	for n := range 5 + rng.IntN(6) {
		x := fmt.Sprintf("x%d", n)
		off := pick("z", "z", "z", "k")
		switch rng.IntN(8) {
		case 0, 1:
			fmt.Fprintf(&b, "%s = parfor i in 0..5 { %s }\n", x, fmt.Sprintf(pick("%s[i, 0] + A[i + %s, 0]", "if %s[i, 0] > 0 { A[%s, 0] } else { 2.0 }", "%s[i, 0] * A[4 - i - %s, 0]"), value(), off))
		case 2:
			fmt.Fprintf(&b, "%s = i64(%s) %s (B + %d)\n", x, value(), pick("//", "%"), 1-rng.IntN(4)%3)
		case 3, 4:
			fmt.Fprintf(&b, "%s = %s %s %s\n", x, value(), pick("+", "*", "-"), value())
		case 7:
			fmt.Fprintf(&b, "%s = i64(%s / (B - %s)) * 2\n", x, value(), pick("3", "7", "7", "z"))
		case 5:
			fmt.Fprintf(&b, "assert %s > %d, \"%s\"\n", off, rng.IntN(6)-5, x)
			continue
		case 6:
			fmt.Fprintf(&b, "emit %s\n", fmt.Sprintf(pick("sum(%s)", "%s", "sum(%s) + A[z, 0]"), value()))
			continue
		}
		values = append(values, x)
	}
	for _, v := range values[2:] {
		fmt.Fprintf(&b, "emit sum(%s)\n", v)
	}
	return b.String()
}
