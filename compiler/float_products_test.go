package compiler_test

import "testing"

// TestProductsOfManyFloats: a body multiplies a few floats by halves. Products of more keep the order
// of their chains, however the floats are made.
func TestProductsOfManyFloats(t *testing.T) {
	table := tinyTable(t)
	const data = "X = rand(17, 33, seed = 76) + 0.6\n"
	for _, text := range []string{
		"emit parfor i in 0..2 { prod(-X - i) }",
		"emit parfor i in 0..2 { prod(roll(X, i)) }",
		"emit parfor i in 0..2 { prod((X + i)[1.., :]) }",
		"emit parfor i in 0..2 { prod(-f32(X)) }",
		"emit parfor i in 0..2 { iterate d = 1.0, k = 0 times 7 { next d = prod(X + (i + k) * 0.01); next k = k + 1 }; d }",
	} {
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 2, []string{"fuse"}, false, ""}, {3, 1, nil, false, ""}}).differ(table, data+text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
