package rule

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels"
)

// This file tests the table: every rule keeps every bit on random data full of -0, nan and inf
// (canonical ones on small integers, where all orders are exact), does what its example says, does
// nothing when it is off; and every counterexample is one.

var update = flag.Bool("update", false, "rewrite the golden files")

// only is the set of one rule.
func only(t testing.TB, name string) *Set {
	return newSet(compileAll(tableUnderTest(t), Rules(), func(r *Rule) bool { return r.Name == name }), nil)
}

// both evaluates a graph and its rewritten form; differ says what is not the same.
func both(g, out *ir.Graph, root, now ir.ID) string {
	a, errA := eval.Run(g, nil)
	b, errB := eval.Run(out, nil)
	switch {
	case (errA == nil) != (errB == nil):
		return fmt.Sprintf("before: error %v, after: error %v", errA, errB)
	case errA != nil:
		return ""
	case !value.Same(a[root], b[now]):
		return fmt.Sprintf("%s\nbecomes\n%s", show(a[root]), show(b[now]))
	}
	return ""
}

func show(v value.Value) string {
	d, ok := v.(*value.Dense)
	if !ok {
		return fmt.Sprint(v)
	}
	var b strings.Builder
	for i := range d.Rows {
		for j := range d.Cols {
			fmt.Fprintf(&b, "%v ", d.At(i, j))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRulesKeepBits(t *testing.T) {
	table := tableUnderTest(t)
	for _, r := range Rules() {
		if r.Name == foldConstants || r.Name == orderChain {
			continue // code, not text: testdata/fold-constants.txtar, TestChain
		}
		t.Run(r.Name, func(t *testing.T) {
			for _, text := range r.Rewrites {
				r := r
				r.Rewrites = []string{text}
				set := newSet(compileAll(table, []Rule{r}, func(*Rule) bool { return true }), nil)
				rng := rand.New(rand.NewPCG(1, uint64(len(text))))
				fired, most := 0, 4000
				switch {
				case r.Sparse: // few leaves fit each other
					most = 100_000
				case slices.Contains(r.Where, "single(a, b)"): // few factors are a line
					most = 50_000
				}
				for trial := 0; trial < most && fired < 30; trial++ {
					d := &drawer{rng: rng, table: table, integers: r.Class == Canonical, sparse: r.Sparse}
					g, root, ok := d.pattern(text)
					if !ok {
						continue
					}
					out, to := set.Simplify(g)
					if out == g {
						continue
					}
					fired++
					if err := out.Verify(); err != nil {
						t.Fatalf("%s: %v\n%s", text, err, out)
					}
					if diff := both(g, out, root, to[root]); diff != "" {
						t.Fatalf("%s:\n%s\nin\n%s\nnow\n%s", text, diff, g, out)
					}
				}
				if fired < 5 {
					t.Errorf("%s applied to %d random graphs only", text, fired)
				}
			}
		})
	}
}

// Tables of one kernel set share what is compiled of the rules, so no rule may name a row that each
// table has of its own, as those that read.
func TestRulesNameSharedRows(t *testing.T) {
	first, second := ownTable(t), ownTable(t)
	seen := 0
	var check func(f *form, p *pattern)
	check = func(f *form, p *pattern) {
		if p.def != nil {
			seen++
			if second.Named(p.def.Name) != p.def {
				t.Errorf("%s names %s, which is another row in another table", f.rule.Name, p.def.Name)
			}
		}
		for _, a := range p.args {
			check(f, a)
		}
	}
	for _, class := range []Class{Exact, Canonical} {
		set := compileAll(first, Rules(), func(r *Rule) bool { return r.Class == class })
		for d, b := range set.buckets {
			if second.Named(d.Name) != d {
				t.Errorf("a class of a rule has the row %s, which is another one in another table", d.Name)
			}
			forms := slices.Clone(b.any)
			for _, k := range b.kids {
				for _, a := range k.by {
					forms = append(forms, a.forms...)
				}
			}
			for _, f := range forms {
				check(f, f.from)
				check(f, f.to)
			}
		}
	}
	if seen < 100 || first.Named("read") == second.Named("read") {
		t.Errorf("%d rows were seen, and tables share all: the test shows nothing", seen)
	}
}

func ownTable(t *testing.T) *op.Table {
	table, err := kernels.Table("portable")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Every rewrite that a rule says is wrong gives other bits, or another type, for some values.
func TestCounterexamples(t *testing.T) {
	table := tableUnderTest(t)
	for _, r := range Rules() {
		if len(r.Wrong) == 0 && r.Name != foldConstants {
			t.Errorf("%s has no counterexample", r.Name)
		}
		for _, w := range r.Wrong {
			if !wrong(t, table, w) {
				t.Errorf("%s: no values were found for which this is wrong: %s (%s)", r.Name, w.Rewrite, w.Why)
			}
		}
	}
}

var archive = regexpSections

func TestExamples(t *testing.T) {
	table := tableUnderTest(t)
	named := map[string]bool{}
	for _, r := range Rules() {
		if named[r.Name] {
			t.Errorf("two rules are called %s", r.Name)
		}
		named[r.Name] = true
		file := filepath.Join("testdata", r.Name+".txtar")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no example: %v", r.Name, err)
			continue
		}
		before, after, ok := archive(string(text))
		if !ok {
			t.Errorf("%s: want -- before -- and -- after --", file)
			continue
		}
		g, err := ir.Parse(before, table)
		if err == nil {
			err = g.Verify()
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got := example(t, r, g)
		if *update {
			if err := os.WriteFile(file, []byte("-- before --\n"+before+"-- after --\n"+got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != after {
			t.Errorf("%s makes\n%s\nwant\n%s", r.Name, got, after)
		}
		if got == before {
			t.Errorf("%s does not change its example", r.Name)
		}
		off := New(table, Exact, []string{r.Name})
		if out, _ := off.Simplify(g); r.Class == Exact && off.Fired[r.Name] > 0 {
			t.Errorf("%s is off and made\n%s", r.Name, out)
		}
	}
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, f := range files {
		if !named[strings.TrimSuffix(filepath.Base(f), ".txtar")] {
			t.Errorf("%s is the example of no rule", f)
		}
	}
}

// example is what a rule alone makes of a graph, whose last node is the result.
func example(t *testing.T, r Rule, g *ir.Graph) string {
	last := ir.ID(g.Len() - 1)
	if r.Name == orderChain {
		return chained(t, g).String()
	}
	out, to := only(t, r.Name).Simplify(g)
	if err := out.Verify(); err != nil {
		t.Errorf("%s: %v", r.Name, err)
	}
	keep := make([]bool, out.Len())
	keep[to[last]] = true
	for i := out.Len() - 1; i >= 0; i-- {
		for _, in := range out.In(ir.ID(i)) {
			keep[in] = keep[in] || keep[i]
		}
	}
	return out.Compact(keep).String()
}

// Nothing applies to what the rules have made, and no replacement is replaced many times.
func TestFixpoint(t *testing.T) {
	table := tableUnderTest(t)
	rng := rand.New(rand.NewPCG(3, 3))
	texts := []string{}
	for _, r := range Rules() {
		if r.Name != foldConstants {
			texts = append(texts, r.Rewrites...)
		}
	}
	tried := 0
	for range 3000 {
		d := &drawer{rng: rng, table: table, nest: true}
		g, root, ok := d.pattern(texts[rng.IntN(len(texts))])
		if !ok {
			continue
		}
		set := New(table, Exact, nil)
		out, to := set.Simplify(g)
		if set.Deepest > 20 {
			t.Fatalf("%d replacements in a row:\n%s", set.Deepest, g)
		}
		if out == g {
			continue
		}
		tried++
		if err := out.Verify(); err != nil {
			t.Fatal(err)
		}
		if diff := both(g, out, root, to[root]); diff != "" {
			t.Fatalf("%s\nin\n%s\nnow\n%s", diff, g, out)
		}
		keep := make([]bool, out.Len())
		keep[to[root]] = true
		for i := out.Len() - 1; i >= 0; i-- {
			for _, in := range out.In(ir.ID(i)) {
				keep[in] = keep[in] || keep[i]
			}
		}
		out = out.Compact(keep)
		again := New(table, Exact, nil)
		if twice, _ := again.Simplify(out); twice != out {
			// What has one reader only once the dead are gone may be rewritten then;
			// twice is enough.
			if thrice, _ := New(table, Exact, nil).Simplify(twice); thrice.Len() > twice.Len()+8 {
				t.Fatalf("no end:\n%s\nthen\n%s\nthen\n%s", out, twice, thrice)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d graphs were rewritten", tried)
	}
}

// off is tested by name: what New leaves out is exactly what is named.
func TestNewLeavesOut(t *testing.T) {
	table := tableUnderTest(t)
	count := func(s *Set) (n int) {
		seen := map[*form]bool{}
		for _, b := range s.buckets {
			for _, f := range b.any {
				seen[f] = true
			}
			for _, k := range b.kids {
				for _, l := range k.by {
					for _, f := range l.forms {
						seen[f] = true
					}
				}
			}
		}
		for f := range seen {
			if slices.Contains([]string{"undo-twice", "drop-neutral"}, f.rule.Name) && s.has(f) {
				n++
			}
		}
		return n
	}
	if count(New(table, Exact, nil)) == 0 || count(New(table, Exact, []string{"undo-twice", "drop-neutral"})) != 0 {
		t.Error("rules that are off are there, or rules that are on are not")
	}
}
