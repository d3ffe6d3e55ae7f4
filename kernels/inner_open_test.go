package kernels

import "testing"

// BenchmarkOpen is the opening of a loop of products over rows for two workers: beside its
// iterations it has to be short, for nobody helps with it.
func BenchmarkOpen(b *testing.B) {
	c, _ := beginAcross(b, "gravity, from the body", 2000, 0)
	b.ReportAllocs()
	for b.Loop() {
		r, err := beginParfor(c, 2)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.End(); err != nil {
			b.Fatal(err)
		}
	}
}
