package compiler_test

// These tests run loops that end with reductions of all elements on ranks: each rank has the state of
// its rows.

import (
	"strings"
	"testing"

	"flow/compiler"
	"flow/kernels"
)

// endPrograms give loops of these types on three ranks. A state of a sum has 69 words, other states
// have one.
var endPrograms = []struct{ name, text, loops string }{
	{"in rounds", `iterate A = U, d = 1.0, k = 0 until d < 0.3 or k > 4 {
  B = near(A) / 4
  next d = max(abs(B - A))
  next A = B
  next k = k + 1
}
emit A
emit d`, "(f64[23,7], f64[1,1])"},
	{"nothing is stored", "emit norm(near(U))", "i64[1,69]"},
	{"several of one matrix", "A = near(U)\nemit sum(A)\nemit any(A > V)\nemit all(A < V)\nemit count(A < V)\nemit min(A * V)\nemit mean(abs(A))\nemit t(A)",
		"(f64[23,7], i64[1,69], bool[1,1], bool[1,1], i64[1,1], f64[1,1], i64[1,69])"},
	{"elements and squares", "A = near(U)\nemit stddev(A - U)\nemit var(A)", "(i64[1,138], i64[1,138])"},
	{"of other types", "A = near(i64(9 * U))\nemit sum(A)\nemit max(A)\nB = near(f32(U))\nemit sum(B)\nemit norm(B * 2)\nemit stddev(B)\nemit min(B)",
		"(i64[1,1], i64[1,1]) (i64[1,69], i64[1,138], f32[1,1], i64[1,69])"},
	{"columns", "A = roll(U[:, 3], 1) * V[:, 2]\nemit sum(A - U[:, 3])\nemit sum(parfor i in 0..41 { i * i % 7 })", "i64[1,69] i64[1,1]"},
	{"two chains of one", "r = U * V\nA = near(U) - r\nB = near(V) + r\nemit max(A - B)\nemit A\nemit B", "(f64[23,7], f64[23,7], f64[1,1])"},
	{"a stored chain that is read elsewhere, too", "A = near(U) * V\nemit sum(A)\nemit max(A - near(A))\nemit A", "(f64[23,7], i64[1,69], f64[1,1])"},
	{"numbers that are far apart", "A = near(U) * exp(1400 * (V - 0.5))\nemit sum(A)\nemit stddev(A - U)\nemit A[0, 0]", "(f64[23,7], i64[1,69], i64[1,138])"},
	{"places have a state, which no loop makes", "A = near(U)\nemit argmax(A)\nemit A", ""},
}

const endData = "U = materialize(rand(23, 7, seed = 1))\nV = materialize(rand(23, 7, seed = 2))\n" +
	"fn near(A) = rbind(A[1.., :], A[0, :]) + cbind(A[:, -1], A[:, 0..-1]) - 2 * A\n"

// Reductions of all elements end loops on ranks, too. The bytes are those of one rank, whether the
// loops are compiled or the operators run one after the other.
func TestEndsOfLoopsOnRanks(t *testing.T) {
	defer kernels.LoopsFrom(0)
	for _, p := range endPrograms {
		text := endData + p.text
		c, err := compileTiny(tinyTable(t), text, 3, false, apart)
		if err != nil {
			t.Fatal(err)
		}
		var loops []string
		for _, line := range strings.Split(c.Plan.Graph.String(), "\n") {
			if _, of, is := strings.Cut(line, "= nest("); is && strings.Contains(of, "shared=") {
				_, of, _ = strings.Cut(of, " : ")
				of, _, _ = strings.Cut(of, " @")
				loops = append(loops, of)
			}
		}
		if got := strings.Join(loops, " "); got != p.loops {
			t.Errorf("%s: loops of %s, want %s", p.name, got, p.loops)
		}
		for _, from := range []int64{0, 1 << 40} {
			kernels.LoopsFrom(from)
			spreadAlike(t, []spreadProgram{{p.name, text, 0, 0}})
		}
	}
}

// Ranks share sums of 4e6 rows by few groups. With many groups, states of 69 words take longer than
// the rows. Counts, which have one word, are shared.
func TestTablesThatRanksShare(t *testing.T) {
	for _, c := range []struct {
		of    string
		words int // of the largest states that ranks merge
	}{{"0..900 { sum((g == j) * x) }", 69}, {"0..90000 { sum((g == j) * x) }", 1}, {"0..90000 { count(g == j) }", 1}} {
		text := "g = randint(4000000, 1, 0, 2000, seed = 1)\nx = rand(4000000, 1, seed = 2)\nemit parfor j in " + c.of
		r, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 2, Verify: true})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		words, g := 0, r.Plan.Graph
		for id, n := range g.All() {
			if n.Op.Name == "group.sum.part" {
				words = max(words, g.Type(id).Cols)
			}
		}
		if words != c.words {
			t.Errorf("%s: states of %d words, want %d", c.of, words, c.words)
		}
	}
}
