package compiler_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"flow/compiler"
	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/compiler/pass"
	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/kernels"
	"flow/lang/source"
	"flow/runtime/local"
	"flow/stdlib"
)

// This file defines the golden tests of passes: testdata/<pass>/<case>.txtar. A head says
// in a sentence what must be true, then
//
//	expect: fuse        the pass changes the graph of this case
//	forbid: fuse        it does not
//	count: map=1        nodes of the plan
//	with: tile=4 block=16 panel=8 ranks=3 whole=1 part=4096 n=12
//
// (the last sets what blocks follow from, and params of the program). Sections are
// compared where present; -update fills them. in.flow is a program, in.ir a graph that
// is given to the directory's pass alone.

var update = flag.Bool("update", false, "rewrite the golden files")

type section struct{ name, text string }

// archive is a case: what stands before the first section, and the sections.
type archive struct {
	head     string
	sections []section
}

var sectionLine = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

func parseArchive(text string) (a archive) {
	marks := sectionLine.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 {
		return archive{head: text}
	}
	a.head = text[:marks[0][0]]
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		a.sections = append(a.sections, section{text[m[2]:m[3]], text[m[1]:end]})
	}
	return a
}

func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.head)
	for _, s := range a.sections {
		fmt.Fprintf(&b, "-- %s --\n%s", s.name, s.text)
	}
	return b.String()
}

func (a archive) get(name string) (string, bool) {
	for _, s := range a.sections {
		if s.name == name {
			return s.text, true
		}
	}
	return "", false
}

// directive is the words after `name:` in the head.
func (a archive) directive(name string) []string {
	var out []string
	for _, l := range strings.Split(a.head, "\n") {
		if rest, ok := strings.CutPrefix(l, name+":"); ok {
			out = append(out, strings.Fields(rest)...)
		}
	}
	return out
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	fired := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar")
		t.Run(name, func(t *testing.T) { golden(t, file, fired) })
	}
	for _, p := range compiler.Passes() {
		if !fired[p.Name] && !t.Failed() {
			t.Errorf("no case of testdata expects pass %s to fire", p.Name)
		}
	}
}

func golden(t *testing.T, file string, fired map[string]bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := parseArchive(string(text))
	c := &goldenCase{t: t, a: a, pass: filepath.Base(filepath.Dir(file)), changed: map[string]bool{}, ranks: 1, made: map[string]string{}}
	c.setUp()
	if in, ok := a.get("in.flow"); ok {
		c.program(in)
	} else if in, ok := a.get("in.ir"); ok {
		c.graph(in)
	} else {
		t.Fatal("neither in.flow nor in.ir")
	}
	for _, p := range a.directive("expect") {
		if fired[p] = true; !c.changed[p] {
			t.Errorf("pass %s does not change the graph", p)
		}
	}
	for _, p := range a.directive("forbid") {
		if c.changed[p] {
			t.Errorf("pass %s changes the graph", p)
		}
	}
	for i, s := range a.sections {
		got, ok := c.made[s.name]
		if !ok || got == s.text {
			continue
		}
		if *update {
			a.sections[i].text = got
			continue
		}
		t.Errorf("%s is\n%s\nwant\n%s", s.name, got, s.text)
	}
	if *update {
		for _, name := range c.order { // a new case gets the sections that its directory is about
			if _, ok := a.get(name); !ok && len(a.sections) <= 1+len(c.order) && c.wanted(name) {
				a.sections = append(a.sections, section{name, c.made[name]})
			}
		}
		if err := os.WriteFile(file, []byte(a.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type goldenCase struct {
	t       *testing.T
	a       archive
	pass    string
	table   *op.Table
	sizes   nodes.Sizes
	whole   bool // what only loops make and read is not cut; else everything is, as for several ranks
	ranks   int
	sets    []compiler.Setting
	changed map[string]bool
	made    map[string]string // sections
	order   []string
}

func (c *goldenCase) make(name, text string) {
	c.made[name] = text
	c.order = append(c.order, name)
}

// wanted says which sections a new case gets.
func (c *goldenCase) wanted(name string) bool {
	return name == c.pass+".diff" || name == "out" || name == "stats" || name == "lower" && (c.pass == "elaborate" || c.pass == "contract")
}

func (c *goldenCase) setUp() {
	c.table = tinyTable(c.t)
	table, err := kernels.Table("")
	if err != nil {
		c.t.Fatal(err)
	}
	tile := false
	for _, w := range c.a.directive("with") {
		name, val, _ := strings.Cut(w, "=")
		n, _ := strconv.Atoi(val)
		switch name {
		case "tile":
			tile = true
		case "block":
			c.sizes.Block = n
		case "panel":
			c.sizes.Panel = n
		case "ranks":
			c.ranks = n
		case "spread":
			c.sizes.Spread = n
		case "part":
			c.sizes.Part = n
		case "whole":
			c.whole = n > 0
		default:
			c.sets = append(c.sets, compiler.Setting{Name: name, Text: val})
		}
	}
	if !tile {
		c.table = table
	}
}

var spans = regexp.MustCompile(` @\d+:\d+`)

// shown is a graph as goldens show it: without places in the source, which every edit moves.
func (c *goldenCase) shown(g *ir.Graph) string {
	text := g.String()
	back, err := ir.Parse(text, c.table)
	if err != nil {
		c.t.Errorf("the printed graph does not parse: %v\n%s", err, text)
	} else if s := back.String(); s != text {
		c.t.Errorf("the printed graph reads back as\n%s\nnot\n%s", s, text)
	}
	return spans.ReplaceAllString(text, "")
}

// program compiles in.flow, compares what all engines print, and counts.
func (c *goldenCase) program(text string) {
	o := compiler.Options{Table: c.table, Ranks: c.ranks, Verify: true, Sizes: c.sizes, Blocks: !c.whole, Sets: c.sets, Std: stdlib.Files}
	if c.pass != "rounds" { // which would leave nothing of small loops to the other passes
		o.Disable = []string{"rounds"}
	}
	before := ""
	o.Dump = func(p string, g *ir.Graph) {
		after := c.shown(g)
		switch {
		case p == "elaborate":
			c.make("lower", after)
			c.changed["elaborate"] = g.Len() > 0
			c.changed["contract"] = regexp.MustCompile(`= gemm\(|\{.*t[ab]=true`).MatchString(after)
		default:
			c.make(p+".diff", lineDiff(before, after))
			c.changed[p] = before != after
		}
		before = after
	}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
	if ds.HasErrors() {
		var b strings.Builder
		source.RenderAll(&b, r.Files, ds, false)
		c.t.Fatal(b.String())
	}
	c.changed["order"] = slices.Max(r.Plan.Prio) > 0
	c.changed["by-rows"] = choosesRows(r, text, o)
	var b strings.Builder
	r.Plan.Print(&b)
	c.make("plan", c.shownPlan(b.String()))
	c.counts(r.Plan.Graph)
	known := meanings{}
	m := known.of("the meaning", r.Program)
	if m.err != nil {
		c.t.Fatal(m.err)
	}
	c.make("out", m.out)
	c.everywhere(text, o, m, known)
	c.make("stats", c.stats(text, o))
}

// choosesRows reports whether the plan of a program is another one without the pass by-rows, which
// changes no graph itself.
func choosesRows(r *compiler.Result, text string, o compiler.Options) bool {
	o.Dump, o.Disable = nil, append(slices.Clone(o.Disable), "by-rows")
	without, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
	return !ds.HasErrors() && without.Plan.Hash() != r.Plan.Hash()
}

// shownPlan is a plan's text without places, and without priorities, which costs make.
func (c *goldenCase) shownPlan(text string) string {
	p, err := plan.Parse(text, c.table)
	if err != nil {
		c.t.Errorf("the printed plan does not parse: %v\n%s", err, text)
		return text
	}
	var b strings.Builder
	p.Print(&b)
	if b.String() != text {
		c.t.Errorf("the printed plan reads back as\n%s\nnot\n%s", b.String(), text)
	}
	return spans.ReplaceAllString(regexp.MustCompile(`(?m)^prio .*\n`).ReplaceAllString(text, ""), "")
}

func (c *goldenCase) counts(g *ir.Graph) {
	n := map[string]int{}
	for i := range g.Nodes {
		n[g.Nodes[i].Op.Name]++
	}
	for _, w := range c.a.directive("count") {
		name, val, _ := strings.Cut(w, "=")
		if strconv.Itoa(n[name]) != val {
			c.t.Errorf("the plan has %d %s, want %s", n[name], name, val)
		}
	}
}

// everywhere runs the program on every engine, with passes left out at random. m is its meaning, and
// known what the evaluator has said of its graphs.
func (c *goldenCase) everywhere(text string, o compiler.Options, m outcome, known meanings) {
	rng := rand.New(rand.NewPCG(uint64(len(text)), 3))
	for seed := range 3 {
		on := drawRuns(rng)
		if seed == 2 && !everyRun {
			break
		}
		if seed > 0 {
			on = on.some(uint64(len(text) + seed))
		}
		for _, r := range on {
			o := o
			o.Ranks, o.Dump, o.Disable, o.Blocks = r.ranks, nil, r.disable, r.blocks
			if seed == 0 {
				o.Disable = nil
			}
			res, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
			if ds.HasErrors() {
				c.t.Fatal(ds)
			}
			for _, x := range []outcome{known.of("the meaning", res.Program), known.of("the plan", res.Plan.Graph), ran(res, r.workers)} {
				if x.err != nil || x.out != m.out {
					c.t.Errorf("%d ranks, without %v: %s prints %v\n%s\nthe meaning\n%s", r.ranks, o.Disable, x.how, x.err, x.out, m.out)
				}
			}
		}
	}
}

// stats counts what one worker does, and what three ranks send.
func (c *goldenCase) stats(text string, o compiler.Options) string {
	o.Dump, o.Ranks = nil, 1
	one, _ := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
	pool := local.NewPool(1)
	defer pool.Close()
	rep, err := local.RunPlan(context.Background(), pool, one.Plan, local.EngineOptions{Env: &printer{}})
	if err != nil {
		c.t.Fatal(err)
	}
	o.Ranks = 3
	three, _ := compiler.Compile(context.Background(), "x.flow", []byte(text), o)
	s := plan.Summarise(three.Plan, nil, 1)
	return fmt.Sprintf("tasks %d   edges %d   lent %d   reused %d\non 3 ranks: tasks %d   messages %d   bytes %d\n",
		rep.Tasks, rep.Edges, rep.BytesLent, rep.BytesReused, s.Tasks, s.Messages, s.Bytes)
}

// graph gives in.ir to the directory's pass alone.
func (c *goldenCase) graph(text string) {
	g, err := ir.Parse(text, c.table)
	if err == nil {
		err = g.Verify()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	before := c.shown(g)
	var after string
	switch c.pass {
	case "contract":
		pass.NewContraction(c.table, c.sizes).Run(g, 0, ir.ID(g.Len()-1), true)
	case "drop-dead":
		g = pass.DropDead(g)
	case "merge-equal":
		g = pass.MergeEqual(g)
	case "simplify":
		out, _ := rule.New(c.table, rule.Exact, nil).Simplify(g)
		g = pass.DropDead(out)
	case "fuse":
		g = pass.DropDead(pass.Fuse(g, c.table))
	case "narrow":
		g = pass.Narrow(g, c.table)
	case "partition", "place":
		p := &nodes.Partitioned{Graph: g, Block: make([]nodes.Block, g.Len())}
		if c.pass == "partition" {
			if p, err = pass.Partition(context.Background(), g, c.table, c.sizes, 1000); err != nil {
				c.t.Fatal(err)
			}
			p = p.DropDead()
		}
		g = p.Graph
		if c.pass == "place" {
			placed := layout.Place(p, c.ranks, c.table, c.sizes)
			g = placed.Graph
			after = fmt.Sprintln("own", strings.Trim(fmt.Sprint(placed.Owner), "[]"))
		}
	default:
		c.t.Fatalf("no pass %s takes a graph alone", c.pass)
	}
	if err := g.Verify(); err != nil {
		c.t.Error(err)
	}
	c.counts(g)
	after += c.shown(g)
	c.changed[c.pass] = after != before
	c.make(c.pass+".diff", lineDiff(before, after))
}

// lineDiff is what changes from a to b, line by line; nothing of what stays.
func lineDiff(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	long := make([][]int, len(x)+1) // the longest common part of what follows
	for i := range long {
		long[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && long[i+1][j] >= long[i][j+1]:
			out.WriteString("-" + x[i])
			i++
		default:
			out.WriteString("+" + y[j])
			j++
		}
	}
	return out.String()
}
