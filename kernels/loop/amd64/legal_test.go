package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/loop/code"
)

// wholeNumbers are integers around the limits of conversions and of divisions by divisor, their
// negatives, and random ones of all sizes.
func wholeNumbers(divisor int64) *value.Dense {
	r := rand.New(rand.NewPCG(3, uint64(divisor)))
	list := []int64{-1 << 63}
	add := func(x int64) {
		for d := int64(-2); d <= 2; d++ {
			list = append(list, x+d, -x+d)
		}
	}
	for _, bit := range []int{0, 31, 32, 33, 50, 51, 52, 53, 62} {
		add(1 << bit)
		add(int64(1) << bit / divisor * divisor)
	}
	for range 300 {
		x := int64(r.Uint64() >> r.IntN(64))
		add(x)
		add(x / divisor * divisor)
		add(x>>12/divisor*divisor + divisor/2)
	}
	out := value.New(types.I64, len(list), 1)
	copy(out.I64, list)
	return out
}

// TestConstantOperands compares operations on integers with constants, on either side, with the
// interpreter of nests: in all lanes, and in the lanes of an if.
func TestConstantOperands(t *testing.T) {
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) {
			m := need(t, target)
			check := func(operation string, constant, divisor int64) {
				text := fmt.Sprintf(`nest(%%0: i64[]) (i: 0..%%0.rows) {
  v0 = load %%0[i, 0]
  v1 = i64 %d
  v2 = %s
  v3 = i64 0
  v4 = lt v2, v3
  v5 = if v4 {
    v6 = %[2]s
    v7 = i64 1
    v8 = add v6, v7
    yield v8
  } else {
    v9 = neg v2
    yield v9
  }
  store out0[i, 0] v5
} : (i64[%%0.rows, 1])`, constant, operation)
				n, err := loop.Parse(text, loop.Standard{})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				sameAsEval(t, m, target, n, wholeNumbers(divisor), fmt.Sprintf("%s, v1 = %d", operation, constant))
			}
			for _, n := range []int64{3, 5, 7, 10, 12, 641, 1<<31 - 1, 1<<50 - 27, 1<<51 - 1, 1<<51 + 1, 1<<62 + 1, -1, -3, -8, -10, -1 << 51} {
				for _, operation := range []string{"mod v0, v1", "idiv v0, v1", "mul v0, v1", "mul v1, v0"} {
					check(operation, n, n)
				}
			}
			for n := range int64(64) {
				check("sar v0, v1", n, 1)
			}
			check("mul v0, v0", 0, 1)
		})
	}
}

// TestRulesOfAVX2 bounds the number of instructions of one kind in the code of some bodies.
func TestRulesOfAVX2(t *testing.T) {
	counting := `v1 = i64 5
v2, v3 = for q: forever (v4 = v0, v5 = v0) {
v6 = eq v4, v1
break v6
v7 = i64 2
v8 = add v4, v7
v9 = i64 1
v10 = add v5, v9
next v8, v10
}
v11 = add v2, v3`
	for _, x := range []struct {
		body string
		op   Op
		most int // in each of two loops: that over whole vectors, and that over the rest
	}{
		{"v1 = i64 3\nv2 = mul v1, v0", VPMULUDQ, 0},
		{"v1 = mul v0, v0\nv2 = neg v1", VPMULUDQ, 2},
		{"v1 = i64 4\nv2 = idiv v0, v1", VPCMPGTQ, 0},
		{"v1 = i64 10\nv2 = mod v0, v1", VDIVPD, 0},
		{"v1 = i64 10\nv2 = mod v0, v1", VROUNDPD, 0},
		{"v1 = to_f64 v0\nv2 = abs v1\nv3 = neg v2\nv4 = bits v3", VXORPD, 0},
		{"v1 = i64 5\nv2 = ne v0, v1\nv3 = i64 7\nv4 = select v2, v0, v3", VPXOR, 0},
		{"v1 = i64 5\nv2 = le v0, v1\nv3 = ne v0, v1\nv4 = and v2, v3\nv5 = to_i64 v4", VPXOR, 1},
		{"v1 = i64 10\nv2 = mod v0, v1\nv3 = idiv v0, v1\nv4 = xor v2, v3", VSUBPD, 2},
		{"v1 = to_f64 v0\nv2 = to_i64 v1", VROUNDPD, 0}, // most have 32 bits
		{"v1 = to_f64 v0\nv2 = f64 -9.223372036854775808e18\nv3 = le v2, v1\nv4 = f64 9.223372036854775808e18\nv5 = lt v1, v4\nv6 = and v3, v5\ncheck 0 v6, v1\nv7 = to_i64 v1", VCMPPD, 1}, // not in whole vectors
		{"v1 = i64 -7\nv2 = max v0, v1\nv3 = i64 900\nv4 = min v2, v3\nv5 = to_f64 v4\nv6 = bits v5", VPBLENDD, 0},
		{"v1 = i64 -7\nv2 = max v0, v1\nv3 = i64 900\nv4 = min v2, v3\nv5 = i64 8\nv6 = add v4, v5\nv7 = i64 1\nv8 = le v7, v6\nv9 = to_i64 v8", VPCMPGTQ, 2},
		{"v1 = i64 -7\nv2 = max v0, v1\nv3 = i64 900\nv4 = min v2, v3\nv5 = sub v4, v3\nv6 = i64 1\nv7 = lt v5, v6\nv8 = to_i64 v7", VPCMPGTQ, 2},
		{counting, VPXOR, 0},
		{counting, VBLENDVPD, 1},
	} {
		result := x.body[strings.LastIndex(x.body, "\nv")+1:]
		result, _, _ = strings.Cut(result, " = ")
		text := "nest(%0: i64[]) (i: 0..%0.rows) {\nv0 = load %0[i, 0]\n" + x.body + "\nstore out0[i, 0] " + result + "\n} : (i64[%0.rows, 1])"
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		l := lowered(avx2, n, []Layout{{Unit: true}}, []Layout{{Unit: true}}, loop.FastLevels, Schedule{together: 1}, &workshop{})
		count := 0
		for depth := range 4 {
			count += l.stepsOf(x.op, depth)
		}
		if count > 2*x.most {
			t.Errorf("%d of %s, expected at most %d:\n%s", count, forms[x.op].name, 2*x.most, strings.ReplaceAll(x.body, "\n", "; "))
		}
	}
}

// TestWords: vectors of f64 become i64 if all lanes fit into 32 bits, and if some do not.
func TestWords(t *testing.T) {
	n, err := loop.Parse("nest(%0: f64[]) (i: 0..%0.rows) {\nv0 = load %0[i, 0]\nv1 = f64 -9.223372036854775808e18\nv2 = le v1, v0\nv3 = f64 9.223372036854775808e18\nv4 = lt v0, v3\nv5 = and v2, v4\ncheck 0 v5, v0\nv6 = to_i64 v0\nstore out0[i, 0] v6\n} : (i64[%0.rows, 1])", loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := []float64{0, math.Copysign(0, -1), 0.99, -0.99, 1 << 31, 1<<31 - 0.5, -1 << 31, -1<<31 - 0.5, -1<<31 - 1, 1<<32 + 5.5, -1 << 32, 1<<53 - 1, 1e18, -1 << 63, 1<<63 - 1024, 41.5,
		1 << 63, -1<<63 - 2048, math.Inf(1), math.Inf(-1), math.NaN()} // these fail
	for _, target := range those(avx2, starved(avx2), avx512) {
		m := need(t, target)
		for range len(numbers) {
			numbers = append(numbers[1:], numbers[0])
			for size := range 9 {
				x, out := value.New(types.F64, 16, 1), value.New(types.I64, 16, 1)
				for i := range x.F64 {
					if x.F64[i] = float64(3 * (8 - i)); i < size {
						x.F64[i] = numbers[i]
					}
				}
				in := []value.Value{x}
				f, err := compile(m, target, n, in, []*value.Dense{out})
				if err != nil {
					t.Fatal(err)
				}
				flagged := f.run(0, 1, 0, 16)
				want, err := n.Eval(in, loop.Env{})
				if flagged != (err != nil) {
					t.Fatalf("%s: flagged: %v, but the definition says %v, for %v", target.name, flagged, err, x.F64)
				}
				if err != nil {
					continue
				}
				if err := same(out, want[0].(*value.Dense)); err != nil {
					t.Errorf("%s: %v, for %v", target.name, err, x.F64)
				}
			}
		}
	}
}

// TestInnermostAddresses: on AVX2, an innermost loop computes no address that its rounds share, and
// keeps its index in a register and not in memory.
func TestInnermostAddresses(t *testing.T) {
	const text = `nest(%0: f64[], %1: f64[]) (i: 0..%0.rows) {
  v0 = f64 0
  v1 = for q: 0..200 (v2 = v0) {
    v3 = for p: 0..300 (v4 = v2) {
      v5 = load %1[q, p]
      v6 = add v4, v5
      next v6
    }
    next v3
  }
  store out0[i, 0] v1
} : (f64[%0.rows, 1])`
	n, err := loop.Parse(text, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := List(AVX2, n, make([]Layout, 2), make([]Layout, 1), Schedule{})
	if err != nil {
		t.Fatal(err)
	}
	loops, lines, labels := 0, strings.Split(l.Text, "\n"), map[string]int{}
	for k, line := range lines {
		if label, is := strings.CutSuffix(line, ":"); is {
			labels[label] = k
		}
		_, label, is := strings.Cut(line, "JL ")
		from, back := labels[label]
		if !is || !back {
			continue
		}
		body := strings.Join(lines[from:k], "\n")
		if !strings.Contains(body, "(BP*8)") {
			continue
		}
		loops++
		for _, word := range []string{"IMULQ", "MOVQ BP,", "LEAQ"} {
			if strings.Contains(body, word) {
				t.Errorf("%s in the innermost loop:\n%s", word, body)
			}
		}
		labels = map[string]int{} // those of the loops around it
	}
	if loops != 2 {
		t.Errorf("%d innermost loops with their index in an operand, not 2:\n%s", loops, l.Text)
	}
}

// TestWalksFetch: a loop of many rounds down the rows asks for the lines of a later round: those of all
// vectors together.
func TestWalksFetch(t *testing.T) {
	for rounds, fetches := range map[int]bool{999: true, 100: false} {
		n, err := loop.Parse(fmt.Sprintf(`nest(%%0: f64[]) (j: 0..%%0.cols) {
  v0 = f64 0
  v1 = for k: 0..%d (v2 = v0) {
    v3 = load %%0[k, j]
    v4 = add v2, v3
    next v4
  }
  store out0[0, j] v1
} : (f64[1, %%0.cols])`, rounds), loop.Standard{})
		if err != nil {
			t.Fatal(err)
		}
		for target, want := range map[Target]int{AVX2: 2, AVX512: 4} { // 12 and 32 numbers
			l, err := List(target, n, make([]Layout, 1), make([]Layout, 1), Schedule{})
			if err != nil {
				t.Fatal(err)
			}
			if !fetches {
				want = 0
			}
			if got := strings.Count(l.Text, "PREFETCHT1 "); got != want {
				t.Errorf("%s: %d lines asked for in %d rounds, want %d:\n%s", target, got, rounds, want, l.Text)
			}
			if got := Together(target, n); got != l.Lanes*l.Together {
				t.Errorf("%s: %d points are said to be evaluated together, %d are", target, got, l.Lanes*l.Together)
			}
		}
	}
}

// TestLoadsFetch: loads of consecutive memory prefetch lines of a later round if the schedule asks for
// it. Among several loads of one operand, only the one of the last element does.
func TestLoadsFetch(t *testing.T) {
	sums := func(operands int) string {
		var params, body strings.Builder
		for k := range operands {
			fmt.Fprintf(&params, "%%%d: f64[], ", k)
			fmt.Fprintf(&body, "v%d = load %%%d[i, j]\n", k, k)
		}
		v := operands - 1
		for k := 1; k < operands; k++ {
			fmt.Fprintf(&body, "v%d = add v%d, v%d\n", v+1, max(v, 0)*min(1, k-1), k)
			v++
		}
		return fmt.Sprintf("nest(%s) (i: 0..%%0.rows, j: 0..%%0.cols) {\n%sstore out0[i, j] v%d\n} : (f64[%%0.rows, %%0.cols])",
			strings.TrimSuffix(params.String(), ", "), body.String(), v)
	}
	const row = "nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols-1) {\nv0 = load %0[i, j+1]\nv1 = load %0[i, j]\nv2 = add v0, v1\n" +
		"store out0[i, j] v2\n} : (f64[%0.rows, %0.cols])"
	const shared = "nest(%0: f64[], %1: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\nv0 = load %0[i, j]\nv1 = load %1[0, j]\nv2 = add v0, v1\n" +
		"store out0[i, j] v2\n} : (f64[%0.rows, %0.cols])"
	const columns = "nest(%0: f64[]) (i: 0..%0.rows) {\nv0 = load %0[i, 0]\nv1 = load %0[i, 1]\nv2 = load %0[i, 2]\nv3 = load %0[i, 3]\n" +
		"v4 = add v0, v1\nv5 = add v2, v3\nv6 = mul v4, v5\nstore out0[i, 0] v6\n} : (f64[%0.rows, 1])"
	for _, c := range []struct {
		name, text   string
		avx2, avx512 int // lines: of all vectors together, and of one
	}{
		{"one operand", sums(1), 1 + 1, 4 + 1}, {"two operands", sums(2), 2 + 2, 2 * (4 + 1)}, {"three operands", sums(3), 0, 0},
		{"two elements of a row", row, 1 + 1, 4 + 1}, {"a row for all", shared, 1 + 1, 4 + 1},
		{"columns side by side", columns, 4 * (2 + 1), 8 * (4 + 1)},
	} {
		n, err := loop.Parse(c.text, loop.Standard{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		for target, lines := range map[Target]int{AVX2: c.avx2, AVX512: c.avx512} {
			for fetch, want := range map[bool]int{false: 0, true: lines} {
				l, err := List(target, n, make([]Layout, len(n.Params)), make([]Layout, 1), Schedule{Fetch: fetch})
				if err != nil {
					t.Fatal(c.name, err)
				}
				if got := strings.Count(l.Text, "PREFETCHT1 "); got != want {
					t.Errorf("%s, %s, %v: %d lines asked for, want %d:\n%s", c.name, target, fetch, got, want, l.Text)
				}
				if c.text == row && fetch && !strings.Contains(l.Text, "PREFETCHT1 0x2008(") {
					t.Errorf("%s: no line is asked for by the load of the last element:\n%s", target, l.Text)
				}
			}
		}
	}
}

// TestCopiesToMemory: a carried value without a register is stored from where it is made. Sums of exp
// have such values on AVX2.
func TestCopiesToMemory(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = call exp(v0)
  store out0[i, j] v1
  reduce out1[i, 0] v1
} : (f64[%0.rows, %0.cols], sum f64[%0.rows, 1])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := List(AVX2, n, make([]Layout, 1), make([]Layout, 2), Schedule{})
	if err != nil {
		t.Fatal(err)
	}
	const spare = "Y15" // see target.spare
	copied, stored := 0, 0
	for _, line := range strings.Split(l.Text, "\n") {
		if strings.Contains(line, "VMOVAPD ") && strings.HasSuffix(line, ", "+spare) {
			copied++
		}
		if strings.Contains(line, "(BX)") && strings.Contains(line, "VMOVUPD Y") {
			stored++
		}
	}
	if copied > 0 || stored == 0 {
		t.Errorf("%d copies before a store, %d stores to scratch memory:\n%s", copied, stored, l.Text)
	}
}

// TestLastWords: AVX2 stores what is left of a row word by word, for stores under a mask are slow
// there. In a branch the lanes that count may be any, so its store has a mask: of vectors together, of
// one, and of the rest.
func TestLastWords(t *testing.T) {
	n, err := loop.Parse(`nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {
  v0 = load %0[i, j]
  v1 = f64 0
  v2 = lt v1, v0
  store out0[i, j] v0
  if v2 {
    store out1[i, j] v0
  } else {
  }
} : (f64[%0.rows, %0.cols], f64[%0.rows, %0.cols])`, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := List(AVX2, n, make([]Layout, 1), make([]Layout, 2), Schedule{})
	if err != nil {
		t.Fatal(err)
	}
	stores := regexp.MustCompile(`VMASKMOVPD Y\d+, Y\d+, \S*\(`)
	if got := len(stores.FindAllString(l.Text, -1)); got != l.Together+2 {
		t.Errorf("%d stores under a mask, want those of the branch, %d:\n%s", got, l.Together+2, l.Text)
	}
}

// TestDigits takes the rest and the quotient of one number by one constant: of a value that a round
// carries, of the result of an if, and in a branch. Divisors that are constants are not checked.
func TestDigits(t *testing.T) {
	const text = `nest(%0: i64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = i64 10
  v2 = i64 0
  v3 = idiv v0, v1
  v4, v5 = for q: 0..%0.cols+3 (v6 = v0, v7 = v3) {
    v8 = eq v6, v2
    v9 = ne v1, v2
    check 0 v9, v6, v1
    v10 = mod v6, v1
    v11 = i64 4
    v12 = lt v10, v11
    v13 = if v12 {
      v14 = mod v6, v1
      v15 = idiv v7, v1
      v16 = sub v15, v14
      yield v16
    } else {
      v17 = add v7, v10
      yield v17
    }
    v18 = mod v13, v1
    v19 = idiv v13, v1
    v20 = xor v18, v19
    v21 = idiv v6, v1
    next v21, v20
  }
  v22 = mod v4, v1
  v23 = xor v5, v22
  store out0[i, 0] v23
} : (i64[%0.rows, 1])`
	for _, target := range []*target{avx512, avx2} {
		t.Run(string(target.name), func(t *testing.T) {
			m := need(t, target)
			n, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				t.Fatal(err)
			}
			sameAsEval(t, m, target, n, wholeNumbers(10), "rests")
			if target != avx2 {
				return
			}
			l := lowered(avx2, n, make([]Layout, 1), make([]Layout, 1), loop.FastLevels, Schedule{}, &workshop{})
			if _, err := l.code(); err != nil || l.asm.checks {
				t.Errorf("a check of a constant divisor: %v, %v", l.asm.checks, err)
			}
		})
	}
}

// TestRoundsAtATime runs inner loops that AVX2 runs several rounds at a time. They have few rounds to
// more than a call makes, local memory, the index as a number, and carried values.
func TestRoundsAtATime(t *testing.T) {
	for _, on := range []*target{avx512, avx2} {
		t.Run(string(on.name), func(t *testing.T) {
			m := need(t, on)
			for _, rng := range []string{"0..%1", "3..%1", "0..%1 by 3", "-5..%1+2 by 2"} {
				for _, rounds := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 37} {
					n, err := loop.Parse(`nest(%0: i64[], %1: i64) (i: 0..%0.rows) {
  local w0 i64[80, 1]
  v0 = load %0[i, 0]
  v1, v2 = for q: `+rng+` (v3 = v0, v4 = v0) {
    v5 = index q
    v6 = load w0[q+9, 0]
    v7 = add v6, v3
    v8 = xor v7, v5
    store w0[q+10, 0] v8
    v9 = sub v4, v6
    next v9, v8
  }
  v10 = xor v1, v2
  v11 = load w0[12, 0]
  v12 = add v10, v11
  store out0[i, 0] v12
} : (i64[%0.rows, 1])`, loop.Standard{})
					if err != nil {
						t.Fatal(err)
					}
					x := value.New(types.I64, 11, 1)
					for i := range x.I64 {
						x.I64[i] = int64(i)<<40 - 5
					}
					in, out := []value.Value{x, value.I64(int64(rounds))}, value.New(types.I64, x.Rows, 1)
					f, err := compile(m, on, n, in, []*value.Dense{out})
					if err != nil {
						t.Fatal(err)
					}
					f.fuel = uint64(rounds % 5)
					f.run(0, 1, 0, x.Rows)
					want, err := n.Eval(in, loop.Env{})
					if err != nil {
						t.Fatal(err)
					}
					if err := same(out, want[0].(*value.Dense)); err != nil {
						t.Fatalf("%s, %s, %d rounds: %v", on.name, rng, rounds, err)
					}
				}
			}
		})
	}
}

// sameAsEval demands that the code of a nest over a column x of integers gives the integers of its
// definition.
func sameAsEval(t *testing.T, m *code.Memory, on *target, n *loop.Nest, x *value.Dense, what string) {
	t.Helper()
	in, out := []value.Value{x}, value.New(types.I64, x.Rows, 1)
	f, err := compile(m, on, n, in, []*value.Dense{out})
	if err != nil {
		t.Fatal(err)
	}
	f.run(0, 1, 0, x.Rows)
	want, err := n.Eval(in, loop.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range want[0].(*value.Dense).I64 {
		if out.I64[i] != y {
			t.Fatalf("%s, v0 = %d: %d instead of %d", what, x.I64[i], out.I64[i], y)
		}
	}
}
