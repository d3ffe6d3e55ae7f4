package stdlib_test

import "testing"

// The special functions give the same bytes on every engine, in bodies and in f32, too.
func TestSpecialFunctions(t *testing.T) {
	text := `
x = 6 * randn(300, 3, seed = 5)
p = rand(300, 2, seed = 6)
emit erf(x)
emit erfc(x) + gamma(x)
emit lgamma(x * 5)
emit normcdf(x)
emit normquantile(p)
emit normcdf(f32(x))
emit t(colsum(lgamma(abs(x) + 1)))
emit parfor i in 0..300 { gamma(x[i, 0]) + normcdf(x[i, 1]) * erf(x[i, 2]) }
emit normquantile(0.25) + gamma(3) + erf(true)
emit erf(zeros(0, 2))
`
	alike(t, text, "")
	want, err := run(text, "", way{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run(text, "", way{ranks: 3, threads: 1}); err != nil || got != want {
		t.Errorf("3 ranks: %v, other bytes", err)
	}
}
