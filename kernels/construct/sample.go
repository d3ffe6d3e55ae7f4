package construct

// This file defines sample. With replacement each number is drawn from its own counter. Without it
// the numbers are the first k values of a permutation of 0..n-1 that can be evaluated anywhere: a
// Feistel network of six rounds on the least even number of bits that holds n - 1, walked on until
// it falls below n (J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", 2002). So every
// block is made from its place alone, like those of rand.

import (
	"math/bits"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Sample is the row of sample.
func Sample() []*op.Def {
	none, no := op.Int(0), op.Bool(false)
	return generator{
		name: "sample",
		doc: "sample is k numbers drawn from 0, 1, ..., n - 1 as a column of i64: all different, or with replace = true each by itself. " +
			"take(x, sample(nrow(x), k)) draws rows.",
		eg: []op.Example{{Program: "emit sort(sample(4, 4, seed = 3))", Output: "0\n1\n2\n3\n"}},
		args: []op.Arg{{Name: "n", Attr: true, Kind: op.IntVal, Doc: "how many numbers there are"},
			{Name: "k", Attr: true, Kind: op.IntVal, Doc: "how many are drawn"},
			{Name: "seed", Attr: true, Kind: op.IntVal, Default: &none, Doc: "the same seed draws the same numbers"},
			{Name: "replace", Attr: true, Kind: op.BoolVal, Default: &no, Doc: "a number may come again"}},
		flops: 40,
		shape: func(a *op.Attrs) (rows, cols int, bad string) {
			n, k := a.Int("n"), a.Int("k")
			switch {
			case k < 0:
				return 0, 0, "k is negative"
			case k > 0 && n == 0:
				return 0, 0, "there is nothing to draw from"
			case k > n && !a.Bool("replace"):
				return 0, 0, "k is above n; replace = true draws with replacement"
			}
			return k, 1, ""
		},
		elem: func(*op.Attrs) types.Elem { return types.I64 },
		at:   func(a *op.Attrs, i, _ int) value.Scalar { return value.I64(Drawn(a, i)) },
		fill: fillSample,
	}.seedable()
}

// fillSample sets out to the rows of a sample from r0 on. It draws many numbers together, since those of
// one round of the network do not depend on one another.
func fillSample(a *op.Attrs, out *value.Dense, r0, _ int) {
	n, seed := uint64(a.Int("n")), uint64(a.Int("seed"))
	if a.Bool("replace") {
		for i := range out.Rows {
			out.I64[i*out.Stride] = replaced(n, seed, uint64(r0+i))
		}
		return
	}
	half := halfBits(n)
	var keys [rounds]uint64
	for k := range keys {
		keys[k] = roundKey(seed, k)
	}
	var x [128]uint64
	var row [len(x)]int // the row of out of each number that is not below n yet
	for from := 0; from < out.Rows; from += len(x) {
		left := min(len(x), out.Rows-from)
		for i := range left {
			x[i], row[i] = uint64(r0+from+i), from+i
		}
		for left > 0 {
			for _, key := range keys {
				feistelRound(x[:left], half, key)
			}
			still := 0
			for i, v := range x[:left] {
				if v < n {
					out.I64[row[i]*out.Stride] = int64(v)
				} else {
					x[still], row[still] = v, row[i]
					still++
				}
			}
			left = still
		}
	}
}

// Drawn is number i of a sample.
func Drawn(a *op.Attrs, i int) int64 {
	n, seed := uint64(a.Int("n")), uint64(a.Int("seed"))
	if a.Bool("replace") {
		return replaced(n, seed, uint64(i))
	}
	half := halfBits(n)
	x := uint64(i)
	for {
		if x = feistel(x, half, seed); x < n {
			return int64(x)
		}
	}
}

// replaced returns number i of a sample with replacement. The upper half of a 128-bit product is uniform to
// within n / 2^64.
func replaced(n, seed, i uint64) int64 {
	hi, _ := bits.Mul64(mix(seed+(i+1)*golden), n)
	return int64(hi)
}

// halfBits returns half the number of bits of the numbers that are permuted.
func halfBits(n uint64) int { return (bits.Len64(n-1) + 1) / 2 }

// golden is the step of SplitMix64's counter.
const golden = 0x9E3779B97F4A7C15

// mix is SplitMix64's finisher.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// feistelRound runs one round of the network on several numbers.
func feistelRound(x []uint64, half int, key uint64) {
	h := uint(half) & 63
	mask := uint64(1)<<h - 1
	for i, v := range x {
		r := v & mask
		x[i] = r<<h | (v>>h ^ mix(key+r*golden)&mask)
	}
}

// feistel permutes the numbers of 2 * half bits.
func feistel(x uint64, half int, seed uint64) uint64 {
	mask := uint64(1)<<half - 1
	l, r := x>>half, x&mask
	for round := range rounds {
		l, r = r, l^mix(roundKey(seed, round)+r*golden)&mask
	}
	return l<<half | r
}

// rounds is the number of rounds of the network.
const rounds = 6

// roundKey returns the key of a round.
func roundKey(seed uint64, round int) uint64 { return mix(seed + (uint64(round)+1)*golden) }
