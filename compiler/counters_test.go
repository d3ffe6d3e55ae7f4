package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
)

// This file tests random loops in bodies of parfor that carry counters: they begin, grow and end in
// many ways, known before the run or not, and index what may be out of range.

// counting draws such loops.
type counting struct{ rng *rand.Rand }

func (c counting) of(list ...string) string { return list[c.rng.IntN(len(list))] }

func (c counting) body() string {
	begin := c.of("0", "1", "2", "i", "i - 2", "p", "p - 4", "n - 1", "9", "-3", "k[i]")
	grow := c.of("q + 1", "q + 1", "1 + q", "q - 1", "q + 3", "q + r", "2 * q", "q", "q - (-2)", "q + 1 - 0")
	until := fmt.Sprintf("times %d", c.rng.IntN(12))
	if c.rng.IntN(5) > 0 {
		ends := c.of("q == %s", "q >= %s", "q > %s", "not (q < %s)", "not (q <= %s)", "%s <= q",
			"q >= %s or z > 2.5", "q + 1 >= %s", "q < %s", "q == r and q == %s")
		until = "until " + fmt.Sprintf(ends, c.of("n", "p", "p + 3", "i + 5", "12", "0", "r", "2 * p", "k[i]"))
		// What may have no end has one by its rounds.
		if c.rng.IntN(2) == 0 || grow != "q + 1" || strings.Contains(ends, "==") || strings.HasSuffix(until, "r") {
			until += " or r >= 40"
		}
	}
	if c.rng.IntN(4) == 0 { // that ends by equality alone
		begin, grow, until = c.of("0", "1", "-3", "p - 4"), "q + 1", "until "+c.of("q == n", "p + 3 == q", "q == 12", "q == 2 * p")
		if c.rng.IntN(3) == 0 {
			begin, grow, until = c.of("n", "p + 3", "12", "2 * p"), "q - 1", "until "+c.of("q == 0", "q + 1 == p", "q == -2")
		}
	}
	at := c.of("q", "q - 1", "q + 1", "2 * q - i", "n - q", "q % n", "max(q, 0) % n")
	read := fmt.Sprintf(c.of("x[i, %s]", "x[%s, i %% 3]", "y[%s]", "f64(%s)", "sum(x[%s, :])"), at)
	return fmt.Sprintf("iterate z = 0.0, q = %s, r = 0 %s { next z = 0.5 * z + %s; next q = %s; next r = r + 1 }; "+
		"z + f64(q) * 3.0 + f64(r)", begin, until, read, grow)
}

// countersAgree draws a loop of that seed and compares what it prints by definition and as it runs.
// It reports a loop that compiles.
func countersAgree(t *testing.T, table *op.Table, seed uint64) bool {
	t.Helper()
	c := counting{rand.New(rand.NewPCG(seed, 78))}
	text := fmt.Sprintf("n = %d\nx = materialize(rand(n, n, seed = %d))\ny = materialize(rand(n, 1, seed = 2))\n"+
		"k = materialize(i64(9 * rand(n, 1, seed = 3)))\np = k[0] + 2\nemit parfor i in 0..n { %s }\n",
		[]int{7, 13, 30}[c.rng.IntN(3)], 1+seed%1000, c.body())
	return bodyAgreesIn(t, table, bodyRuns.some(seed), seed, text)
}

func TestCounters(t *testing.T) {
	table := tinyTable(t)
	sound := 0
	for seed := range uint64(400) {
		if countersAgree(t, table, seed) {
			sound++
		}
	}
	if sound < 300 {
		t.Errorf("only %d of 400 loops run", sound)
	}
}

// TestDividedCounters: loops whose body divides a counter by constants are cut into nested loops. These
// begin at 0 and elsewhere, divide evenly and not, and leave the matrix.
func TestDividedCounters(t *testing.T) {
	table := tinyTable(t)
	for k, body := range []string{
		"iterate z = 0.0, q = 0 times 9 { next z = 0.5 * z + x[i + q // 3, q % 3]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 24 { next z = 0.5 * z + x[q // 12 + i, q % 12 // 4 + q % 4]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 6, r = 0 until q == 18 { next z = z + x[q // 6, q % 6] * (q // 3); next q = q + 1; next r = r + q % 2 }; z + q + r",
		"iterate z = 0.0, q = 0 times 10 { next z = z / 2 + x[i + q // 3, q % 3]; next q = q + 1 }; z",
		"iterate z = 0.0, q = -4 times 8 { next z = z / 2 + x[q // 4, q % 4]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 1 times 8 { next z = z / 2 + x[q // 2, q % 2]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 8 { next z = z / 2 + x[q // 2, q % 2]; next q = q + 2 }; z",
		"iterate z = 0.0, q = 0 times 12 { next z = z / 2 + x[q // 4, q % 4] + q // 6 + q % 5; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 8 { next z = z / 2 + x[(q + 3) // 4, (4 * q + 5) % 4 + (3 - q) // 2]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 8 { iterate u = z, r = 0 times 6 { next u = u / 2 + x[r // 2, q // 4 + r % 2]; next r = r + 1 }; next z = u - q % 4; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 8 { next z = z / 2 + x[q // 4, q % p]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 8 { next z = z / 2 + ceildiv(q, 4) * x[q // 2 - 1, 0]; next q = q + 1 }; z",
		"iterate z = 0.0, q = 0 times 16 { next z = z + x[i + q // 4, 3]; next q = q + 1 }; z", // ends behind the last row
	} {
		text := "n = 16\nx = materialize(rand(n, n, seed = 1))\np = i64(4 * x[0, 0]) + 2\nemit parfor i in 0..n - 3 { " + body + " }\n"
		if !bodyAgrees(t, table, uint64(k), text) {
			t.Errorf("%s does not compile", text)
		}
	}
}
