package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/kernels"
)

// This file draws programs of values of several kinds. A kind is a letter that stands for an element
// type and a shape. Templates say how a value of a kind is made of others, so values of different kinds
// meet.

// vocabulary has the templates of each kind. In a template `$X` is a value of the kind X, `#i` a name
// that the template binds, `~` a small number, and N, M, K and H are sizes.
type vocabulary map[byte][]string

// dialect is what a generator draws from.
type dialect struct {
	kinds string     // letters that are drawn; one that is there twice is drawn twice as often
	outer string     // kinds of values that are there before the statements, all if it is empty
	first vocabulary // what needs no other value
	next  vocabulary
	fails vocabulary // templates that fail with most values of $k, drawn by three of four programs
	sizes []int      // of N
	cols  []int      // of M; nil: a few
	head  []string   // functions
	body  bool       // statements are in the body of a parfor, whose index i is a value of $k
	swarm int        // a program draws from so many templates of each kind, and has larger loops; 0: from all
	runs  runs       // how programs run; nil: kindRuns
}

// drawing is a program that is being drawn.
type drawing struct {
	*dialect
	rng   *rand.Rand
	fail  bool
	names int
	have  map[byte][]string
	lines []string
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// value is a name of a value of a kind, or an expression at most so deep.
func (d *drawing) value(kind byte, depth int) string {
	have := d.have[kind]
	switch {
	case len(have) > 0 && (depth <= 0 || d.rng.IntN(4) > 0):
		return pick(d.rng, have[max(0, len(have)-4):]...)
	case depth <= 0 || len(d.next[kind]) == 0 || len(have) == 0 && d.rng.IntN(2) == 0:
		return "(" + d.fill(pick(d.rng, d.first[kind]...), 0) + ")"
	}
	return "(" + d.made(kind, depth-1) + ")"
}

// made is a template of a kind with values in its places.
func (d *drawing) made(kind byte, depth int) string {
	of := d.next[kind]
	if bad := d.fails[kind]; d.fail && len(bad) > 0 && d.rng.IntN(2) == 0 {
		of = bad
	}
	return d.fill(pick(d.rng, of...), depth)
}

var places = regexp.MustCompile(`\$[A-Za-z]|#[a-z]|~`)

func (d *drawing) fill(template string, depth int) string {
	d.names++
	n := d.names
	return places.ReplaceAllStringFunc(template, func(place string) string {
		switch place[0] {
		case '$':
			return d.value(place[1], depth)
		case '#':
			return fmt.Sprint(place[1:], n)
		}
		return fmt.Sprint(d.rng.IntN(60))
	})
}

// bind gives a value a name.
func (d *drawing) bind(kind byte, text string) {
	d.names++
	name := fmt.Sprintf("%c%d", kind, d.names)
	d.lines = append(d.lines, name+" = "+text)
	d.have[kind] = append(d.have[kind], name)
}

// statements binds n values, and emits some in between: what is printed before a failure is seen.
func (d *drawing) statements(n, depth int, emits bool) {
	for range n {
		kind := d.kinds[d.rng.IntN(len(d.kinds))]
		d.bind(kind, d.made(kind, d.rng.IntN(depth+1)))
		if emits && d.rng.IntN(5) == 0 {
			d.lines = append(d.lines, "emit "+shown(kind, d.value(kind, 0)))
		}
	}
}

// shown is the text of what emit shows of a value: sparse matrices are shown by sums.
func shown(kind byte, name string) string {
	switch kind {
	case 'S', 'Z', 'G':
		return "rowsum(" + name + " * 1.0)"
	}
	return name
}

// loop carries some values through rounds. Some loops count them, and some of these end early.
func (d *drawing) loop() {
	type carried struct {
		kind byte
		name string
	}
	var of []carried
	var head, ends []string
	outer, known := d.lines, d.have
	d.have, d.lines = map[byte][]string{}, nil
	for kind, names := range known {
		d.have[kind] = names[:len(names):len(names)]
	}
	for range 1 + d.rng.IntN(3) {
		kind := d.kinds[d.rng.IntN(len(d.kinds))]
		if kind == 'S' || kind == 'Z' || kind == 'G' {
			continue
		}
		d.names++
		c := carried{kind, fmt.Sprint("u", d.names)}
		head = append(head, c.name+" = "+d.value(kind, 0))
		of = append(of, c)
		switch {
		case kind == 's':
			ends = append(ends, c.name)
		case strings.IndexByte("XYcrqaCv", kind) >= 0:
			ends = append(ends, "max("+c.name+")")
		}
	}
	for _, c := range of {
		d.have[c.kind] = append(d.have[c.kind], c.name, c.name)
	}
	d.names++
	count := fmt.Sprint("n", d.names)
	counts := d.rng.IntN(3) > 0
	if counts {
		d.have['k'] = append(d.have['k'], count)
	}
	d.statements(d.rng.IntN(3), 1, false)
	if d.swarm > 0 {
		d.statements(1+d.rng.IntN(3), 1, false)
	}
	for _, c := range of {
		text := d.made(c.kind, d.rng.IntN(2))
		if strings.IndexByte("XYcrqaCPvhWu", c.kind) >= 0 && d.rng.IntN(2) == 0 {
			text = c.name + " * 0.5 + " + d.value(c.kind, 1)
		}
		if c.kind == 'k' {
			text = "(" + text + ") % 50"
		}
		d.lines = append(d.lines, "next "+c.name+" = "+text)
	}
	rounds := pick(d.rng, 0, 1, 2, 3, 4, 5, 7)
	switch {
	case !counts:
		head = append(head, count+" = 0")
		d.lines = append(d.lines, "next "+count+" = "+count)
		head[len(head)-1] += fmt.Sprintf(" times %d%s", rounds, pick(d.rng, "", " with (unroll = 0)"))
	default:
		head = append(head, count+" = 0")
		d.lines = append(d.lines, "next "+count+" = "+count+" + 1")
		until := fmt.Sprintf(" until %s >= %d", count, rounds)
		switch {
		case d.rng.IntN(3) == 0:
			until = fmt.Sprintf(" times i64(sum(ones(%d, 1)))", rounds)
		case len(ends) > 0 && d.rng.IntN(2) == 0:
			until += fmt.Sprintf(" or %s %s %s", pick(d.rng, ends...), pick(d.rng, "<", ">"), pick(d.rng, "0.01", "1.5", "10"))
		}
		head[len(head)-1] += until
	}
	if d.swarm > 0 && !d.body && d.rng.IntN(3) == 0 && !strings.HasSuffix(head[len(head)-1], ")") {
		head[len(head)-1] += " with (place = rows)"
	}
	loop := "iterate " + strings.Join(head, ", ") + " {\n  " + strings.Join(d.lines, "\n  ") + "\n}"
	d.lines, d.have = append(outer, loop), known
	for _, c := range of {
		d.have[c.kind] = append(d.have[c.kind], c.name)
	}
	if counts {
		d.have['k'] = append(d.have['k'], count)
	}
}

var sizeNames = regexp.MustCompile(`\b[NMKH]\b`)

// draw is a random program.
func (of *dialect) draw(rng *rand.Rand) generated {
	d := &drawing{dialect: of, rng: rng, fail: rng.IntN(4) > 0, have: map[byte][]string{}}
	n, cols := pick(rng, of.sizes...), of.cols
	if cols == nil {
		cols = []int{1, 2, 3, 4, 5, 7}
	}
	sizes := map[string]int{"N": n, "M": pick(rng, cols...), "K": pick(rng, 1, 2, 3, 5), "H": n / 2}
	var few []byte // a program of few kinds has values that share more
	for range pick(rng, 3, 5, 8, 12) {
		few = append(few, of.kinds[rng.IntN(len(of.kinds))])
	}
	if rng.IntN(3) > 0 {
		limited := *of
		limited.kinds = string(append(few, of.kinds[0]))
		d.dialect = &limited
	}
	if of.swarm > 0 {
		d.dialect = d.dialect.swarmOf(rng)
	}
	outer := of.outer
	if outer == "" {
		outer = of.kinds
	}
	for _, kind := range []byte(outer) {
		if len(d.have[kind]) == 0 && rng.IntN(2) == 0 {
			d.bind(kind, d.fill(pick(rng, of.first[kind]...), 0))
		}
	}
	if of.body {
		d.inside()
	} else {
		d.outside()
	}
	out := generated{lines: append(append([]string{}, of.head...), d.lines...)}
	for i, line := range out.lines {
		out.lines[i] = sizeNames.ReplaceAllStringFunc(line, func(s string) string { return fmt.Sprint(sizes[s]) })
	}
	return out
}

// swarmOf returns a dialect of a few templates of each kind. Programs of few templates combine them in
// more ways than programs of all.
func (of *dialect) swarmOf(rng *rand.Rand) *dialect {
	few := *of
	few.next = vocabulary{}
	for kind := range byte(128) {
		all := of.next[kind]
		order := rng.Perm(len(all))
		for _, k := range order[:min(len(order), 1+rng.IntN(of.swarm))] {
			few.next[kind] = append(few.next[kind], all[k])
		}
	}
	return &few
}

// outside draws statements and loops, and emits what nothing else reads.
func (d *drawing) outside() {
	for range pick(d.rng, 1, 1, 2, 3) {
		d.statements(pick(d.rng, 1, 2, 3, 5), 2, true)
		if d.rng.IntN(5) < 3 {
			d.loop()
		}
	}
	d.statements(d.rng.IntN(3), 2, true)
	text, emits := strings.Join(d.lines, "\n"), 0
	d.each(func(kind byte, name string) {
		if uses := strings.Count(text, name); emits < 8 && (uses <= 1 || d.rng.IntN(4) == 0) {
			d.lines = append(d.lines, "emit "+shown(kind, name))
			emits++
		}
	})
}

// each calls f for every name, in an order that is the same in every run.
func (d *drawing) each(f func(kind byte, name string)) {
	for kind := range byte(128) {
		for _, name := range d.have[kind] {
			f(kind, name)
		}
	}
}

// inside draws a parfor. Each point is a number that all names of the body make that nothing else
// reads.
func (d *drawing) inside() {
	outer := d.lines
	d.lines = nil
	d.have['k'] = append(d.have['k'], "i")
	d.statements(pick(d.rng, 1, 2, 3), 2, false)
	if d.rng.IntN(2) == 0 {
		d.loop()
	}
	d.statements(pick(d.rng, 1, 2), 1, false)
	text := strings.Join(d.lines, "\n")
	var sum []string
	d.each(func(kind byte, name string) {
		if uses := strings.Count(text, name); strings.Contains(text, name+" = ") && (uses == 1 || d.rng.IntN(4) == 0) {
			sum = append(sum, numberOf(kind, name))
		}
	})
	head := fmt.Sprintf("emit parfor i in %s {\n  ", pick(d.rng, "0..N", "0..N", "N - 1..=0 by -1", "0..60", "2..N + 3", "0..1"))
	d.lines = append(outer, head+strings.ReplaceAll(text, "\n", "\n  ")+"\n  "+strings.Join(append(sum, "f64(i)"), " + ")+"\n}")
}

// numberOf is the text of a number made of a value.
func numberOf(kind byte, name string) string {
	switch kind {
	case 's':
		return name
	case 'k':
		return "f64(" + name + ")"
	case 'b', 'B':
		return "f64(count(" + name + "))"
	case 'I', 'J', 'F':
		return "f64(sum(" + name + "))"
	}
	return "sum(" + name + ")"
}

// dialects are all that are drawn of values of kinds. first is the seed of the first program in make
// test.
var dialects = []struct {
	of       *dialect
	first    uint64
	programs int
}{{mixed, 0, 10}, {mixedFailing, 98, 16}, {smallBodies, 10, 12}, {squares, 70, 14}, {inColumns, 0, 12}, {inRows, 0, 8}, {ragged, 30, 20},
	{squaresOnRanks, 1244, 4}, {open, 0, 6}, {open.onRanks(), 0, 3}, {nested, 0, 3}, {nestedBodies, 0, 4}, {strange, 0, 4}, {strangeBodies, 0, 4}}

// kindRuns are the ways in which these programs run. Ranks share nothing of a loop that is one task
// (rounds), and small loops are: some runs on ranks have none.
var kindRuns = runs{{1, 2, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {1, 2, []string{"fuse"}, false, ""}, {2, 1, []string{"rounds"}, false, ""}, {3, 1, []string{"stand", "keep"}, false, ""},
	{4, 1, []string{"simplify", "rounds"}, false, ""}, {1, 1, []string{"group"}, false, ""}, {1, 2, []string{"hoist", "rounds"}, false, ""}, {3, 1, nil, false, ""}}

// rankRuns share rows of loops, whatever their size.
var rankRuns = runs{{3, 1, []string{"rounds"}, false, ""}, {1, 2, nil, true, ""}, {2, 1, []string{"rounds", "hoist"}, false, ""}, {4, 2, []string{"rounds", "simplify"}, false, ""},
	{5, 1, []string{"rounds", "keep"}, false, ""}, {2, 1, []string{"rounds", "stand", "fuse"}, false, ""}, {3, 1, nil, false, ""}}

func (of *dialect) ways() runs {
	if of.runs != nil {
		return of.runs
	}
	return kindRuns
}

// agrees draws a program and compares what it does in some ways. It reports whether the program is one,
// and how it ends. The compiler may know of a failure, or that shapes do not agree: then there is no
// program.
func (of *dialect) agrees(t *testing.T, table *op.Table, seed uint64) (sound bool, o outcome) {
	t.Helper()
	p, rs := of.draw(rand.New(rand.NewPCG(seed, 41))), of.ways().some(seed)
	refused := func(p generated) error {
		_, err := compiledOnce(table, p.text(), rs[0].ranks, rs[0].blocks, rs[0].disable)
		return err
	}
	if err := refused(p); err != nil {
		return false, outcome{err: err}
	}
	o, err := rs.differ(table, p.text())
	if err != nil {
		p = smaller(p, func(q generated) bool {
			if refused(q) != nil {
				return false
			}
			_, err := rs.differ(table, q.text())
			return err != nil
		})
		_, less := rs.differ(table, p.text())
		t.Errorf("seed %d: %v\nwith fewer lines: %v\nin\n%s", seed, err, less, p.text())
	}
	return true, o
}

// kindsAgree draws a program of each dialect.
func kindsAgree(t *testing.T, table *op.Table, seed uint64) {
	t.Helper()
	for _, d := range dialects {
		d.of.agrees(t, table, seed)
	}
}

// TestDrawnKinds: programs of values of several kinds do what they mean, or fail as they should.
func TestDrawnKinds(t *testing.T) {
	table := tinyTable(t)
	kernels.LoopsFrom(0)
	for k, d := range dialects {
		sound, failed := 0, 0
		for seed := range uint64(d.programs) {
			ok, o := d.of.agrees(t, table, d.first+seed)
			if ok {
				sound++
			}
			if ok && o.failed {
				failed++
			}
		}
		t.Logf("dialect %d: %d programs, %d of them fail", k, sound, failed)
		if sound < d.programs*2/3 || d.of == mixedFailing && (failed < sound/4 || failed > sound*3/4) {
			t.Errorf("of %d programs of dialect %d %d are sound, and %d of these fail", d.programs, k, sound, failed)
		}
	}
}
