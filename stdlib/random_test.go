package stdlib_test

import (
	"slices"
	"testing"
)

// Numbers that a body draws with a seed of its own are those that a for draws, on every engine.
func TestDrawsInBodies(t *testing.T) {
	blocks := []string{"t(rand(5, 1, seed = 3 + i))", "t(randn(5, 1, seed = 3 + i))", "t(randexp(5, seed = 3 + i))", "t(randint(5, 1, -4, 9, seed = 3 + i))",
		"rowsum(rand_spd(3, seed = i))[0, 0] * ones(1, 1)", "t(sample(9, 4, seed = i))", "t(sample(9, 4, seed = i, replace = true))",
		"t(randn(16, 1, seed = i))", "rand(1, 1, seed = i64(i > 1))", "reshape(randint(8, 9, -1, 9223372036854775807, seed = i), 1, 72)",
		"t(permutation(6, seed = i))", "t(shuffle([1.5, 2, 3], seed = 7 * i))", "colsum(synth_linear(4, 2, noise = 0.5, seed = i))"}
	inside, outside := "", ""
	for _, b := range blocks {
		inside += "emit parfor i in 0..4 { " + b + " }\n"
		outside += "for i in 0..4 { emit " + b + " }\n"
	}
	want, err := run(outside, "", way{eval: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []way{{eval: true}, {threads: 1}, {threads: 3}, {threads: 2, disable: []string{"fuse"}}, {ranks: 2, threads: 1}, {ranks: 4, threads: 1}} {
		if got, err := run(inside, "", w); err != nil || !slices.Equal(spaced(got), spaced(want)) {
			t.Errorf("%+v: %v, %s\nwant\n%s", w, err, got, want)
		}
		if got, err := run(outside, "", w); err != nil || !slices.Equal(spaced(got), spaced(want)) {
			t.Errorf("%+v, outside: %v, %s\nwant\n%s", w, err, got, want)
		}
	}
}
