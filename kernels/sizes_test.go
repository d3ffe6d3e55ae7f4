package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
)

// sizing is a call of a row whose dimensions and numbers are symbols: 0, 1, a and b.
type sizing struct {
	d     *op.Def
	kinds []types.Type         // of the values, without dimensions
	dims  []symbol             // two of each value
	attrs []symbol             // of each attribute that is a number, or a list of them
	made  map[[2]int]*op.Attrs // of attrs, for each a and b
	sig   op.Sig
}

type symbol int

const (
	symbol0 symbol = iota
	symbol1
	symbolA
	symbolB
	symbols
)

func (s symbol) of(a, b int) int { return [...]int{0, 1, a, b}[s] }

// typ is what the row's rule says for that a and b.
func (z *sizing) typ(a, b int) (t types.Type, ok bool) {
	z.sig = op.Sig{Def: z.d, Attrs: z.made[[2]int{a, b}], In: z.sig.In[:0]}
	for k, t := range z.kinds {
		if t.IsMatrix() {
			t.Rows, t.Cols = z.dims[2*k].of(a, b), z.dims[2*k+1].of(a, b)
		}
		z.sig.In = append(z.sig.In, t)
	}
	t, err := z.d.Type(&z.sig)
	return t, err == nil
}

// make makes the attributes for every a and b.
func (z *sizing) make() {
	z.made = map[[2]int]*op.Attrs{}
	for _, s := range slices.Concat(small[:], large[:]) {
		var list []op.Attr
		at := 0
		for _, arg := range z.d.Args {
			switch {
			case !arg.Attr:
			case arg.Kind == op.IntVal && at < len(z.attrs):
				list = append(list, op.Attr{Name: arg.Name, Val: op.Int(z.attrs[at].of(s[0], s[1]))})
				at++
			case arg.Kind == op.IntsVal && at < len(z.attrs): // a size, or a place and a size
				n := z.attrs[at].of(s[0], s[1])
				list = append(list, op.Attr{Name: arg.Name, Val: op.Ints(n, n)})
				at++
			}
		}
		z.made[s] = op.MakeAttrs(list...)
	}
}

// formulas are what a dimension of a result may be.
var formulas = []struct {
	name string
	of   func(a, b *big.Int) *big.Int
}{
	{"0", func(a, b *big.Int) *big.Int { return big.NewInt(0) }},
	{"1", func(a, b *big.Int) *big.Int { return big.NewInt(1) }},
	{"2", func(a, b *big.Int) *big.Int { return big.NewInt(2) }},
	{"a", func(a, b *big.Int) *big.Int { return a }},
	{"b", func(a, b *big.Int) *big.Int { return b }},
	{"unknown", func(a, b *big.Int) *big.Int { return big.NewInt(types.Unknown) }},
	{"a + 1", func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, big.NewInt(1)) }},
	{"b + 1", func(a, b *big.Int) *big.Int { return new(big.Int).Add(b, big.NewInt(1)) }},
	{"a - 1", func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, big.NewInt(1)) }},
	{"b - 1", func(a, b *big.Int) *big.Int { return new(big.Int).Sub(b, big.NewInt(1)) }},
	{"a + a", func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, a) }},
	{"b + b", func(a, b *big.Int) *big.Int { return new(big.Int).Add(b, b) }},
	{"a + b", func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }},
	{"a * a", func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, a) }},
	{"b * b", func(a, b *big.Int) *big.Int { return new(big.Int).Mul(b, b) }},
	{"a * b", func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
	{"a / b, up", func(a, b *big.Int) *big.Int { return new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(a), b)) }},
	{"b / a, up", func(a, b *big.Int) *big.Int { return new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(b), a)) }},
	{"min", func(a, b *big.Int) *big.Int { return big.NewInt(min(a.Int64(), b.Int64())) }},
	{"max", func(a, b *big.Int) *big.Int { return big.NewInt(max(a.Int64(), b.Int64())) }},
}

// small are sizes by which a formula is known.
var small = [...][2]int{{5, 7}, {13, 11}, {17, 19}}

// smallValues are the values of each formula at the small sizes.
var smallValues = func() (of [][len(small)]int) {
	for _, f := range formulas {
		var at [len(small)]int
		for k, s := range small {
			at[k] = int(f.of(big.NewInt(int64(s[0])), big.NewInt(int64(s[1]))).Int64())
		}
		of = append(of, at)
	}
	return of
}()

// formula is that of the dimension which get takes of a result, -1 if there is none.
func formula(results [len(small)]types.Type, get func(types.Type) int) int {
	var at [len(small)]int
	for k, t := range results {
		at[k] = get(t)
	}
	return slices.Index(smallValues, at)
}

// large are sizes near the ends of int, and those whose sums and products leave it, by one or by a
// factor.
var large = [...][2]int{{math.MaxInt, math.MaxInt - 1}, {math.MaxInt, 2}, {2, math.MaxInt}, {1 << 62, 1 << 61}, {1 << 31, 1 << 33}, {1 << 33, 1 << 31}, {1 << 32, 1 << 32},
	{types.MaxSide, types.MaxSide}, {types.MaxSide, 3}, {1 << 59, 1 << 59}, {1 << 59, 1 << 5}, {3, 1 << 62}, {3037000500, 3037000500}, {1<<53 + 1, 1 << 53}}

// Every shape rule gives, of sizes at which arithmetic on ints overflows, what it gives of small
// ones, or refuses them with a message.
func TestSizesNearTheEndOfInt(t *testing.T) {
	kinds := []types.Type{types.DenseOf(types.F64, 0, 0), types.SparseOf(types.F64, 0, 0), types.ScalarOf(types.I64)}
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	asked, refused, odd := 0, 0, map[string]int{}
	for _, d := range table.Rows() {
		if d.Type == nil {
			continue
		}
		values, numbers := 0, 0
		for _, a := range d.Args {
			switch {
			case !a.Attr && a.Rest:
				values += 2
			case !a.Attr:
				values++
			case a.Kind == op.IntVal || a.Kind == op.IntsVal:
				numbers++
			}
		}
		values, numbers = min(values, 3), min(numbers, 2)
		z := sizing{d: d, kinds: make([]types.Type, values), dims: make([]symbol, 2*values), attrs: make([]symbol, numbers)}
		everyList(len(kinds), values, func(pick []int) {
			matrices := 0
			for k, p := range pick {
				if z.kinds[k] = kinds[p]; kinds[p].IsMatrix() {
					matrices++
				}
			}
			least := 0
			if matrices > 2 {
				least = 2 // a and b alone
			}
			part := rand.New(rand.NewPCG(uint64(values), uint64(numbers)))
			everyList(int(symbols), numbers, func(list []int) {
				for k, s := range list {
					z.attrs[k] = symbol(s)
				}
				z.make()
				everyList(int(symbols)-least, 2*values, func(dims []int) {
					// A fifth of what sizes and two numbers together can be.
					if numbers > 1 && values > 1 && !everyCase && part.IntN(5) > 0 {
						return
					}
					for k, s := range dims {
						if z.dims[k] = symbol(s + least); !z.kinds[k/2].IsMatrix() {
							if s > 0 {
								return // once is enough
							}
							z.dims[k] = symbol0
						}
					}
					a, r := sizesAgree(t, &z, odd)
					asked, refused = asked+a, refused+r
				})
			})
		})
	}
	t.Logf("%d calls with large sizes, %d refused; results of no known formula: %v", asked, refused, odd)
	if asked < 10000 || refused < asked/10 || refused == asked || len(odd) > 26 {
		t.Errorf("%d calls, %d refused, no formula for %v", asked, refused, odd)
	}
}

// sizesAgree asks the rule of large sizes, if it takes small ones.
func sizesAgree(t *testing.T, z *sizing, odd map[string]int) (asked, refused int) {
	t.Helper()
	var results [len(small)]types.Type
	takes := 0
	for k, s := range small {
		var ok bool
		if results[k], ok = z.typ(s[0], s[1]); ok {
			takes++
		}
	}
	rows, cols := -1, -1
	if takes == len(small) {
		rows = formula(results, func(t types.Type) int { return t.Rows })
		cols = formula(results, func(t types.Type) int { return t.Cols })
	}
	known := results[0].IsMatrix() && rows >= 0 && cols >= 0
	if takes == len(small) && results[0].IsMatrix() && !known {
		odd[z.d.Name]++
	}
	sizes := large[:]
	if takes == 0 {
		sizes = large[3:4] // what it refuses whatever the size
	}
	for _, s := range sizes {
		asked++
		got, ok := z.typ(s[0], s[1])
		if !ok {
			refused++
			continue
		}
		where := func() string {
			return fmt.Sprintf("%s of %v %v %v, a = %d, b = %d: %v", z.d.Name, z.kinds, z.dims, z.attrs, s[0], s[1], got)
		}
		if !got.Possible() {
			t.Fatalf("%s is not possible", where())
		}
		if !known || !got.IsMatrix() {
			continue
		}
		a, b := big.NewInt(int64(s[0])), big.NewInt(int64(s[1]))
		if n, m := formulas[rows].of(a, b), formulas[cols].of(a, b); n.Cmp(big.NewInt(int64(got.Rows))) != 0 || m.Cmp(big.NewInt(int64(got.Cols))) != 0 {
			t.Fatalf("%s, want %v x %v: %s and %s", where(), n, m, formulas[rows].name, formulas[cols].name)
		}
	}
	return asked, refused
}

// everyList calls f with every list of n numbers below m.
func everyList(m, n int, f func(list []int)) {
	list := make([]int, n)
	for {
		f(list)
		k := 0
		for ; k < n; k++ {
			if list[k]++; list[k] < m {
				break
			}
			list[k] = 0
		}
		if k == n {
			return
		}
	}
}
