package construct

// This file defines the constructors of random matrices. Every number comes from a counter, so that
// the order in which blocks are made does not matter, and any language can make the same numbers:
// element k of seed s is SplitMix64's mix of s + (k+1) * 0x9E3779B97F4A7C15 (G. Steele, D. Lea, C.
// Flood, "Fast splittable pseudorandom number generators", 2014), of which the upper 53 bits make a
// float in [0, 1).

import (
	"math"
	"math/bits"
	"runtime"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

func random() []*op.Def {
	one := op.Int(1)
	n := op.Arg{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows",
		Told: "make as many rows as there can be, most, and take the first: rand(most, m)[0..%s, :] has the same numbers"}
	m := op.Arg{Name: "m", Attr: true, Kind: op.IntVal, Default: &one, Doc: "columns"}
	seed := define.SeedArg()
	f64 := func(*op.Attrs) types.Elem { return types.F64 }
	normal := generator{
		name: "randn",
		doc: "randn is an n x m matrix of normal numbers with mean 0 and variance 1, by counter like rand; element k takes the numbers " +
			"2k and 2k+1 (Box and Muller).",
		eg: define.Eg("nrow(randn(3, 2))", "3"), args: []op.Arg{n, m, seed}, shape: nByM, elem: f64, flops: 60, draw: normalDraw,
		at: func(a *op.Attrs, i, j int) value.Scalar {
			return value.F64(gauss(uint64(a.Int("seed")), numberAt(a, i, j)))
		},
	}
	rand := generator{
		name: "rand",
		doc: "rand is an n x m matrix of uniform numbers in [0, 1). Element (i, j) is number i*m + j of SplitMix64 with that seed, " +
			"whatever the blocks and ranks.",
		eg: define.Eg("all(rand(3, 3) < 1)", "true"), args: []op.Arg{n, m, seed}, shape: nByM, elem: f64, flops: 4, draw: uniformDraw,
		at: func(a *op.Attrs, i, j int) value.Scalar {
			return value.F64(U01(uint64(a.Int("seed")), numberAt(a, i, j)))
		},
	}
	uniform := []generator{
		rand,
		normal,
		generator{
			name: "rand_spd",
			doc: "rand_spd is a symmetric positive definite n x n matrix: element (i, j), i <= j, is number i*n + j of rand, plus n on the " +
				"diagonal, which dominates its row.",
			eg: define.Eg("all(rand_spd(3) == t(rand_spd(3)))", "true"), args: []op.Arg{n, seed}, shape: nByN, elem: f64, flops: 4,
			at: func(a *op.Attrs, i, j int) value.Scalar {
				n, s := a.Int("n"), uint64(a.Int("seed"))
				x := U01(s, uint64(min(i, j)*n+max(i, j)))
				if i == j {
					x += float64(n)
				}
				return value.F64(x)
			},
			fill: func(a *op.Attrs, out *value.Dense, r0, c0 int) {
				n := a.Int("n")
				whole := a.With("m", op.Int(n)) // of rand
				for i := range out.Rows {
					r := r0 + i
					below := min(max(r-c0, 0), out.Cols) // columns left of the diagonal: numbers a row of n apart
					w := counted(whole, c0, r, 1)
					w[2] = w[1]
					drawUniform(out.View(i, 0, 1, below), w)
					drawUniform(out.View(i, below, 1, out.Cols-below), counted(whole, r, c0+below, 1))
					if d := r - c0; d >= 0 && d < out.Cols {
						out.F64[i*out.Stride+d] += float64(n)
					}
				}
			},
		},
		synthetic(n, seed, f64),
	}
	var out []*op.Def
	for _, g := range append(uniform, draws(n, m, seed)...) {
		out = append(out, g.seedable()...)
	}
	return out
}

// U01 and gauss are the definitions.
func U01(seed, k uint64) float64 {
	z := seed + (k+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) * 0x1p-53
}

func gauss(seed, k uint64) float64 {
	if runtime.GOARCH != "amd64" { // math rounds otherwise there
		out := value.New(types.F64, 1, 1)
		normalDrawer().fill(out, op.DrawWords{int64(seed + (2*k+1)*golden)})
		return out.F64[0]
	}
	u := 1 - U01(seed, 2*k) // in (0, 1]
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*U01(seed, 2*k+1))
}

// drawUniform sets out to the numbers of rand that the words tell.
func drawUniform(out *value.Dense, w op.DrawWords) {
	if out.Rows*out.Cols >= drawnLeast {
		uniformDrawer().fill(out, w)
		return
	}
	for i := range out.Rows {
		for j := range out.Cols {
			out.F64[i*out.Stride+j] = U01(uint64(w.From(i, j)[0])-golden, 0)
		}
	}
}

var (
	uniformDrawer = sync.OnceValue(func() *drawer { return newDrawer(uniformDraw, types.F64) })
	normalDrawer  = sync.OnceValue(func() *drawer { return newDrawer(normalDraw, types.F64) })
)

// synthetic is data for a linear regression.
func synthetic(n, seed op.Arg, f64 func(*op.Attrs) types.Elem) generator {
	noNoise := op.Float(0)
	// The streams of X, of beta and of the noise have seeds of their own.
	const betaSeed, noiseSeed = 0x5EED0001, 0x5EED0002
	beta := func(s uint64, j int) float64 { return float64(2*U01(s^betaSeed, uint64(j))) - 1 }
	target := func(a *op.Attrs, i int, x func(j int) float64) float64 {
		s := uint64(a.Int("seed"))
		y := 0.0
		for j := range a.Int("d") {
			y = math.FMA(x(j), beta(s, j), y)
		}
		return math.FMA(a.Float("noise"), gauss(s^noiseSeed, uint64(i)), y)
	}
	x := func(a *op.Attrs, i, j int) float64 {
		return U01(uint64(a.Int("seed")), uint64(i*a.Int("d")+j))
	}
	return generator{
		name: "synth_linear",
		doc: "synth_linear is data for a linear regression, n x (d + 1): d columns of uniform numbers, as rand(n, d, seed) makes them, and " +
			"the target X @ beta + noise * normal, beta being uniform in [-1, 1).",
		eg: define.Eg("ncol(synth_linear(10, 3))", "4"),
		args: []op.Arg{n, {Name: "d", Attr: true, Kind: op.IntVal, Doc: "predictors"},
			{Name: "noise", Attr: true, Kind: op.FloatVal, Default: &noNoise, Doc: "standard deviation"}, seed},
		shape: func(a *op.Attrs) (rows, cols int, bad string) { return a.Int("n"), a.Int("d") + 1, "" },
		elem:  f64, flops: 6,
		at: func(a *op.Attrs, i, j int) value.Scalar {
			if j < a.Int("d") {
				return value.F64(x(a, i, j))
			}
			return value.F64(target(a, i, func(j int) float64 { return x(a, i, j) }))
		},
		fill: func(a *op.Attrs, out *value.Dense, r0, c0 int) {
			d, s := a.Int("d"), uint64(a.Int("seed"))
			x, b := value.New(types.F64, 1, d), make([]float64, d)
			of := a.With("m", op.Int(d)) // of rand
			for j := range b {
				b[j] = beta(s, j)
			}
			noise := a.Float("noise")
			if n := min(d-c0, out.Cols); n > 0 {
				drawUniform(out.View(0, 0, out.Rows, n), counted(of, r0, c0, 1))
			}
			at := d - c0
			if at < 0 || at >= out.Cols {
				return
			}
			for i := range out.Rows {
				row := out.F64[i*out.Stride : i*out.Stride+out.Cols]
				predictors := row[:at]
				if c0 > 0 {
					drawUniform(x, counted(of, r0+i, 0, 1))
					predictors = x.F64
				}
				y := 0.0
				for j, v := range predictors {
					y = math.FMA(v, b[j], y)
				}
				row[at] = math.FMA(noise, gauss(s^noiseSeed, uint64(r0+i)), y)
			}
		},
	}
}

// seedable returns the row of g and its row for a seed of the run, such as one that the body of a
// parfor computes of its index. The numbers are those that the constructor makes of that seed.
func (g generator) seedable() []*op.Def {
	plain := g.def()
	plain.Seeded = g.name + ".seeded"
	d := &op.Def{
		Name: plain.Seeded, Word: g.name, Hidden: true,
		Doc:  plain.Seeded + " is " + g.name + " of a seed that the run tells.",
		Args: []op.Arg{{Name: "seed", Doc: "the same seed makes the same numbers"}},
		Laws: plain.Laws, Cost: plain.Cost,
	}
	for _, a := range g.args {
		if a.Name != "seed" {
			d.Args = append(d.Args, a)
		}
	}
	withSeed := func(c *op.Call) *op.Attrs { return c.Attrs.With("seed", op.Int(int(c.Scalar(0).I))) }
	d.Type = func(s *op.Sig) (types.Type, error) {
		if t := s.In[0]; t.Kind != types.Scalar || t.Elem != types.I64 && t.Elem != types.Bool {
			return t, op.Faultf(0, define.CodeKind, "the seed of `%s` is an i64, not %s", g.name, t).WithHelp("i64(x) makes an integer of it")
		}
		return g.typ(&op.Sig{Def: plain, Attrs: s.Attrs})
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return plain.Ref(&op.Call{Attrs: withSeed(c), Type: c.Type})
	}
	d.Kernel = func(c *op.Call) error {
		x := *c
		x.Attrs, x.In = withSeed(c), nil
		return plain.Kernel(&x)
	}
	d.Loop = window.Rects(func(c *op.Call) (func(w window.Rect), error) {
		a := withSeed(c)
		return func(w window.Rect) {
			out := c.Result().View(w.Row, w.Col, w.Rows, w.Cols)
			_ = plain.Kernel(&op.Call{Attrs: a.With("at", op.Ints(w.Row, w.Col, w.Rows, w.Cols)), Out: out, Type: out.Type()}) // it cannot fail
		}, nil
	})
	if g.draw != nil {
		d.Elements = g.elements
	}
	return []*op.Def{plain, d}
}

// The row sample draws with replacement each number from its own counter. Without it the numbers are
// the first k values of a permutation of 0..n-1 that can be evaluated anywhere: a Feistel network of
// six rounds on the least even number of bits that holds n - 1, walked on until it falls below n (J.
// Black, P. Rogaway, "Ciphers with arbitrary finite domains", 2002). So every block is made from its
// place alone, like those of rand.

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

// fillSample sets out to the rows of a sample from r0 on. It draws many numbers together, since those
// of one round of the network do not depend on one another.
func fillSample(a *op.Attrs, out *value.Dense, r0, _ int) {
	n, seed := uint64(a.Int("n")), uint64(a.Int("seed"))
	if a.Bool("replace") {
		for i := range out.Rows {
			out.I64[i*out.Stride] = replaced(n, seed, uint64(r0+i))
		}
		return
	}
	half := uint(halfBits(n)) & 63
	mask := uint64(1)<<half - 1
	// The function of a round has 1<<half arguments. A table of it pays from four numbers for each
	// argument on.
	var few [rounds << 5]uint64
	table := few[:0]
	if out.Rows>>half >= 4 {
		if table = few[:min(rounds<<half, len(few))]; len(table) < rounds<<half {
			table = make([]uint64, rounds<<half)
		}
		for k := range rounds {
			key := roundKey(seed, k)
			for r := range table[k<<half : (k+1)<<half] {
				table[k<<half+r] = mix(key+uint64(r)*golden) & mask
			}
		}
	}
	var x [128]uint64
	var row [len(x)]int // the row of out of each number that is not below n yet
	for from := 0; from < out.Rows; from += len(x) {
		left := min(len(x), out.Rows-from)
		for i := range left {
			x[i], row[i] = uint64(r0+from+i), (from+i)*out.Stride
		}
		for left > 0 {
			if len(table) > 0 {
				tabledRounds(x[:left], half, table)
			} else {
				for k := range rounds {
					feistelRound(x[:left], half, roundKey(seed, k))
				}
			}
			// Half of the numbers may be below n, in no order: a branch would be guessed wrongly.
			still := 0
			for i, v := range x[:left] {
				to := row[i]
				out.I64[to] = int64(v)
				x[still], row[still] = v, to
				_, above := bits.Sub64(n-1, v, 0)
				still += int(above)
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

// replaced returns number i of a sample with replacement. The upper half of a 128-bit product is
// uniform to within n / 2^64.
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

// feistelRound runs one round of the network on several numbers. In the loops of its caller there
// are too few registers for it.
//
//go:noinline
func feistelRound(x []uint64, half uint, key uint64) {
	mask := uint64(1)<<(half&63) - 1
	for i, v := range x {
		r := v & mask
		x[i] = r<<(half&63) | (v>>(half&63) ^ mix(key+r*golden)&mask)
	}
}

// tabledRounds runs all rounds with a table of their functions. Two rounds exchange the halves twice,
// so the halves stay where they are.
//
//go:noinline
func tabledRounds(x []uint64, half uint, table []uint64) {
	var f [rounds][]uint64
	for k := range f {
		f[k] = table[k<<(half&63):][:1<<(half&63)]
	}
	f0, f1, f2, f3, f4, f5 := f[0], f[1], f[2], f[3], f[4], f[5]
	for i, v := range x {
		l, r := v>>(half&63), v
		r &= uint64(len(f0) - 1)
		l ^= f0[r]
		r ^= f1[l&uint64(len(f1)-1)]
		l ^= f2[r&uint64(len(f2)-1)]
		r ^= f3[l&uint64(len(f3)-1)]
		l ^= f4[r&uint64(len(f4)-1)]
		r ^= f5[l&uint64(len(f5)-1)]
		x[i] = l<<(half&63) | r
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
