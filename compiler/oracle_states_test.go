package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/kernels"
)

// This file draws loops whose rounds are one task, and chains that several stencils read. What other
// draws make of these has too few values that share numbers and neighbours.

// phrases draws texts from templates. `$name` in a template is a phrase of the list of that name, and a
// list without a phrase that ends is left after a few levels by its first one.
type phrases struct {
	rng  *rand.Rand
	list map[string][]string
}

func (p *phrases) draw(name string, depth int) string {
	list := p.list[name]
	text := list[0]
	if depth > 0 {
		text = list[p.rng.IntN(len(list))]
	}
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 {
			return text
		}
		end := at + 1
		for end < len(text) && text[end] >= 'a' && text[end] <= 'z' {
			end++
		}
		text = text[:at] + p.draw(text[at+1:end], depth-1) + text[end:]
	}
}

// states are the values that a drawn loop carries: their first values, and what replaces them. The loop
// counts by k. Some replacements are calls, others few elements or some hundred.
var states = map[string][]string{
	"num": {"f64(k // 2)", "f64(k % 3)", "s", "sum(A)", "C[k % 60, 0]", "B[0, k % 4]", "A[(k + 1) % 3, 0]", "norm(C)", "max(A)", "f64(w)", "M[k % 8, (k // 2) % 8]",
		"($num * 0.5 + $num)", "(if $num > $num { $num } else { $num })"},
	"A": {"rand(3, 1, seed = 6)", "A * 0.5 + $num", "A * 0.25 + t(B[:, 0..3])", "ifelse(seq(0, 3) == k % 3, $num, A)", "C[(k % 5)..(k % 5) + 3, :] * 0.5 + $num",
		"sort(A) * 0.5 + $num", "cumsum(A) * 0.1 + $num", "rbind(A[1.., :], [$num])", "t(V[k // 2, 0..3]) + A * 0.5", "zeros(3, 1) + $num"},
	"B": {"rand(1, 4, seed = 7)", "B * 0.5 + $num", "M[k % 8, 0..4] + 0.1 * B", "cbind(B[:, 1..], t([$num]))", "colsum(M[:, 2..6]) * 0.01 + B * 0.1", "B * 0.3 + V[w % 7, 0..4]"},
	"C": {"rand(60, 1, seed = 8)", "cumsum(C * 0.5 + t(V[k % 3, :]))", "sort(C) * 0.9 + $num", "C * 0.5 + U[:, k % 4]", "ifelse(seq(0, 60) == k, $num, C)", "rbind(C[1.., :], C[0, :]) * 0.9",
		"t(V[k // 2, :]) * 0.5 + C * 0.25", "C[argsort(U[:, k % 4]), :] * 0.9 + $num", "cumsum(C * 0.1) + $num"},
	"M": {"rand(8, 8, seed = 9)", "M * 0.5 + $num", "M @ M * 0.01 + 0.5 * t(M)", "parfor i in 0..8 { if i == k % 8 { M[(k + 1) % 8, :] } else { M[i, :] } }", "rbind(M[1.., :], M[0, :]) * 0.9 + $num",
		"M * 0.5 + A[k % 3, 0]", "cumsum(M) * 0.1"},
	"s": {"0.5", "s * 0.5 + $num", "$num", "sum(C) * 0.01 + s * 0.1"},
	"w": {"3", "w + 1", "k // 2 + 1", "(w * 7 + k) % 60", "if s > 1 { k % 7 } else { w }"},
}

// drawStates draws a loop that carries values of several sizes.
func drawStates(rng *rand.Rand) string {
	names := []string{"A", "B", "C", "M", "s", "w"}
	rng.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	var first, next, emits []string
	for _, name := range names {
		p := &phrases{rng, map[string][]string{"num": states["num"], "next": states[name][1:]}}
		first = append(first, name+" = "+states[name][0])
		next = append(next, "  next "+name+" = "+p.draw("next", 3))
		emits = append(emits, "emit "+name)
	}
	return fmt.Sprintf("V = rand(20, 60, seed = 1)\nU = rand(60, 4, seed = 4)\nrounds = randint(1, 1, 3, 25, seed = %d)[0, 0]\niterate %s, k = 0 times rounds {\n%s\n  next k = k + 1\n}\n%s\n",
		rng.IntN(99), strings.Join(first, ", "), strings.Join(next, "\n"), strings.Join(emits, "\n"))
}

// drawStencils draws chains, some of which others read at neighbours.
func drawStencils(rng *rand.Rand) string {
	p := &phrases{rng, map[string][]string{
		"make": {"2 * $name", "$name * $near", "$name + $near", "$name - $near", "$name * $near", "$name + $near"},
		"near": {"rbind(Q[1.., :], Q[0, :])", "rbind(Q[2.., :], Q[0..2, :])", "rbind(Q[-1, :], Q[0..-1, :])", "rbind(Q[-2.., :], Q[0..-2, :])",
			"cbind(Q[:, 1..], Q[:, 0])", "rbind($name[1.., :], $name[0, :])"},
		"name":  {"p"},
		"first": {"exp(P)", "P * P", "P + 1"},
	}}
	lines := []string{"P = materialize(rand(5, 3, seed = 1))", "Q = rand(5, 3, seed = 2)", "p = " + p.draw("first", 2)}
	for k := range 3 + rng.IntN(4) {
		name := fmt.Sprint("a", k)
		lines = append(lines, name+" = "+p.draw("make", 3))
		p.list["name"] = append(p.list["name"], name)
	}
	text := strings.Join(lines, "\n")
	var emits []string
	for _, name := range p.list["name"] { // what others read is seldom printed: it need not be stored
		if strings.Count(text, name) == 1 || rng.IntN(8) == 0 {
			emits = append(emits, "emit "+name)
		}
	}
	return strings.Join(append(lines, emits...), "\n") + "\n"
}

// statesAgree compares a drawn loop, and drawn stencils, with what the definition gives.
func statesAgree(t *testing.T, table *op.Table, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	rs := runs{{1, 1, nil, false, ""}, {1, 2, []string{"simplify"}, false, ""}, {2, 1, []string{"hoist"}, false, "FAC2"}, {1, 3, []string{"fuse"}, true, ""}}
	for _, text := range []string{drawStates(rng), drawStencils(rng), drawStencils(rng)} {
		if o, err := rs.some(seed).differ(table, text); err != nil || o.err != nil {
			t.Errorf("seed %d: %v, or the definition fails: %v\nin\n%s", seed, err, o.err, text)
		}
	}
}

// TestDrawnStates: loops of several states and chains that stencils read give what the definition
// gives.
func TestDrawnStates(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	for seed := range uint64(50) {
		statesAgree(t, table, seed)
	}
}
