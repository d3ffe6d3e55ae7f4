package amd64

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
	"flow/ir/value"
)

// leastOf returns a nest that seeks the place of the least of some sums of products. First come all
// sums, then they are compared.
func leastOf(sums, terms int, compare string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("nest(%%0: f64[], %%1: f64[]) (i: 0..%%0.rows) {")
	for k := range terms {
		line("x%d = load %%0[i, %d]", k, k)
	}
	line("z = f64 0")
	for s := range sums {
		last := "z"
		for k := range terms {
			line("w%d_%d = load %%1[%d, %d]", s, k, s, k)
			line("s%d_%d = fma x%d, w%d_%d, %s", s, k, k, s, k, last)
			last = fmt.Sprintf("s%d_%d", s, k)
		}
	}
	line("b0 = copy s0_%d\np0 = i64 0", terms-1)
	for s := 1; s < sums; s++ {
		line("n%d = i64 %d", s, s)
		line("c%d = %s b%d, s%d_%d", s, compare, s-1, s, terms-1)
		line("b%d = select c%d, b%d, s%d_%d", s, s, s-1, s, terms-1)
		line("p%d = select c%d, p%d, n%d", s, s, s-1, s)
	}
	line("store out0[i, 0] p%d\n} : (i64[%%0.rows, 1])", sums-1)
	return numbered(strings.ReplaceAll(b.String(), "b0 = copy s0_", "b0 = add z, s0_"))
}

// numbered gives the values of a text without branches their numbers.
func numbered(text string) string {
	names, out := map[string]string{}, []string{}
	for line := range strings.Lines(text) {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,\n", r) })
		for _, w := range words[1:] {
			if v, ok := names[w]; ok {
				line = strings.Replace(line, " "+w+",", " "+v+",", 1)
				line = strings.Replace(line, " "+w+"\n", " "+v+"\n", 1)
			}
		}
		if len(words) > 1 && words[1] == "=" {
			v := fmt.Sprintf("v%d", len(names))
			names[words[0]] = v
			line = v + strings.TrimPrefix(line, words[0])
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// TestOnDemand: in the order of the text, all sums live before the first is compared, and some have no
// register. Compared as soon as they are made, all have one.
func TestOnDemand(t *testing.T) {
	for _, c := range []struct {
		sums, terms int
		compare     string
	}{{20, 4, "le"}, {16, 6, "lt"}} {
		text := leastOf(c.sums, c.terms, c.compare)
		n, err := loop.Parse(text, loop.Standard{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		o := &ordering{values: len(n.Types), vectors: avx512.vectors, long: longBlock}
		o.begin(&n.Body)
		before := o.live()
		b, changed := o.block(&n.Body)
		if after := o.live(); !changed || before < c.sums || after > c.terms+5 {
			t.Errorf("%d sums of %d: %d values live at once, then %d", c.sums, c.terms, before, after)
		}
		if place := slices.IndexFunc(b.Stmts, func(s loop.Stmt) bool { return s.Code == loop.Select }); place > len(b.Stmts)/2 {
			t.Errorf("the first comparison is statement %d of %d", place, len(b.Stmts))
		}
		l := loweringOf(t, text, Schedule{})
		at := l.allocate(l.asm.registers, l.lives)
		first, spilled := slices.IndexFunc(l.steps, func(s step) bool { return s.enters }), 0
		for _, v := range at.lives.order {
			if l.values[v].class == vectorClass && at.reg[v] == NoReg && int(at.lives.of[v].from) > first {
				spilled++
			}
		}
		if spilled > 0 {
			t.Errorf("%d sums of %d: %d values of a point have no register", c.sums, c.terms, spilled)
		}
	}
}

// TestOnDemandKeeps: nests give the same in the other order, stores, locals, checks and breaks
// included.
func TestOnDemandKeeps(t *testing.T) {
	orders := 0
	for seed := range uint64(3000) {
		c := looptest.Draw(seed)
		b, changed := (&ordering{values: len(c.Nest.Types), vectors: -1, long: 2}).block(&c.Nest.Body)
		if !changed {
			continue
		}
		orders++
		n := *c.Nest
		n.Body = b
		want, failed := c.Nest.Eval(c.In, loop.Env{})
		got, err := n.Eval(c.In, loop.Env{})
		if fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Fatalf("seed %d: %v, want %v\n%s\n%s", seed, err, failed, c.Nest, &n)
		}
		for k := range want {
			if x, ok := want[k].(*value.Dense); ok && failed == nil && !bytes.Equal(x.Bytes(), got[k].(*value.Dense).Bytes()) {
				t.Fatalf("seed %d: result %d is %v, want %v\n%s\n%s", seed, k, got[k], x, c.Nest, &n)
			}
		}
	}
	if orders < 100 {
		t.Errorf("%d nests had another order", orders)
	}
}
