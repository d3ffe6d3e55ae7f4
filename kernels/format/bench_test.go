package format

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// BenchmarkRead measures the readers on text with few digits, as measured data have, and with all 17.
func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 500
	for _, digits := range []int{6, 17} {
		var array, triples, table strings.Builder
		fmt.Fprintf(&array, "%%%%MatrixMarket matrix array real general\n%d %d\n", n, n)
		fmt.Fprintf(&triples, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n*n)
		for i := range n {
			for j := range n {
				x := fmt.Sprintf("%.*g", digits, r.NormFloat64())
				fmt.Fprintln(&array, x)
				fmt.Fprintln(&triples, i+1, j+1, x)
				table.WriteString(x)
				table.WriteString(map[bool]string{true: "\n", false: ","}[j == n-1])
			}
		}
		for _, c := range []struct{ name, file, text string }{
			{"array", "a.mtx", array.String()}, {"coordinate", "a.mtx", triples.String()}, {"csv", "a.csv", table.String()},
			{"coordinate.gz", "a.mtx.gz", gzipped(triples.String())},
		} {
			path := put(b, c.file, c.text)
			b.Run(fmt.Sprintf("%s/digits=%d", c.name, digits), func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				if c.name == "coordinate.gz" {
					b.SetBytes(int64(len(triples.String())))
				}
				for b.Loop() {
					if _, err := Read(path, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	d := value.New(types.F64, n, n)
	for i := range d.F64 {
		d.F64[i] = r.NormFloat64()
	}
	var npyFile bytes.Buffer
	if err := Write(&npyFile, "a.npy", d, Options{}); err != nil {
		b.Fatal(err)
	}
	path := put(b, "a.npy", npyFile.String())
	b.Run("npy", func(b *testing.B) {
		b.SetBytes(int64(npyFile.Len()))
		for b.Loop() {
			if _, err := Read(path, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWrite measures the writers on all digits.
func BenchmarkWrite(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	d := value.New(types.F64, 500, 500)
	for i := range d.F64 {
		d.F64[i] = r.NormFloat64()
	}
	for _, name := range []string{"a.mtx", "a.csv", "a.npy"} {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := Write(&out, name, d, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(out.Len()))
		})
	}
}
