package amd64

// This file chooses how a nest is scheduled on vectors.

import "flow/ir/loop"

// Schedule is how a nest is run on vectors. The zero Schedule suits most.
type Schedule struct {
	// First says that the lanes are the first index of a space of two, and the rows of a window the
	// second: see LanesFirst.
	First bool
	// Stream says that results are stored past the caches, where whole vectors lie on their own
	// lines: for results that no cache holds.
	Stream bool
	// Fetch says that loads of consecutive memory prefetch lines of later rounds: for processors whose
	// hardware prefetchers do not suffice.
	Fetch bool
	// Keep says that results may lie in the memory of operands. Stores may then leave out lanes that they
	// would not change.
	Keep bool
	// Roots reports that roots by multiply-adds are right on this processor. It is asked where they are
	// worth it, on AVX-512; nil: they are not.
	Roots func() bool
	// together is how many vectors are lowered together; 0: as many as choose says.
	together int
}

// maxParts is how many vectors are lowered together at most.
const maxParts = 4

// The cost model. A cost is about the number of instructions of one vector, dividers counting for
// what they take.

// costs are those of statements that take more than an instruction.
var costs = [256]int{loop.Div: 8, loop.Sqrt: 8, loop.Min: 5, loop.Max: 5, loop.IDiv: 20, loop.Mod: 20, loop.MulHighU: 12,
	loop.Reduce: 12, loop.Look: 10}

// shortRound is the cost of a round up to which three vectors are lowered together with few registers.
const shortRound = 40

// mediumRound is the cost of a round up to which two vectors are lowered together with few registers,
// and three with many.
const mediumRound = 100

// mostCarried is the most values that an inner loop carries of which two vectors are lowered together
// for targets with few registers. Sums and squares, eight words each, take 0.8 of the time with one.
const mostCarried = 7

const (
	// longBody is a cost. Loops whose rounds cost more are lowered for one vector at a time, not for two.
	longBody = 700
	// longestBody is that cost of bodies without inner loops. Longer code would fill the cache of
	// instructions.
	longestBody = 1600
)

// weigh adds up a block.
func weigh(b *loop.Block) (w weight) {
	if b == nil {
		return w
	}
	add := func(x weight) {
		w.cost += x.cost
		w.divides += x.divides
		w.roots += x.roots
		w.inner = max(w.inner, x.inner)
		w.calls, w.open, w.whole = w.calls || x.calls, w.open || x.open, w.whole || x.whole
		w.carry = max(w.carry, x.carry)
	}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch s.Code {
		case loop.Const, loop.IndexOf, loop.Bits, loop.F64Bits: // no instruction
		case loop.Apply:
			w.calls = true
			add(weigh(&s.Func.Body))
		case loop.For:
			x := weigh(&s.Loop.Body)
			x.carry, x.open = max(x.carry, len(s.Loop.Init)), x.open || s.Loop.Index.Range.Kind == loop.Forever
			if x.inner == 0 {
				x.inner = x.cost + 2
			}
			add(x)
		case loop.If:
			add(weigh(s.Then))
			add(weigh(s.Else))
		default:
			w.whole = w.whole || s.Code == loop.IDiv || s.Code == loop.Mod
			switch cost := max(1, costs[s.Code]); s.Code {
			case loop.Sqrt:
				w.roots++
				fallthrough
			case loop.Div:
				w.divides += cost
				fallthrough
			default:
				w.cost += cost
			}
		}
	}
	return w
}

// few says that the target has few registers, for which vectors that are lowered together compete.
func (l *lowering) few() bool { return l.vectors < 29 }

// choose says how many vectors are lowered together. A loop of few instructions waits for results most
// of the time, and counts and jumps for each vector: measured on a Zen 4, four vectors make escape
// times 2.7 times as fast as one, and a call of exp 1.1 times. With few registers three vectors make
// escape times 2.7 times as fast as one. If a loop ends for each lane by its values, all lanes wait for
// the last one. On a Zen 4, two vectors then take 0.7 to 0.9 of the time of three (escape times) or of
// one (Collatz lengths). Rounds that divide integers are long chains: two of them take 1.14 of the time
// of three (trial division). Functions and exact sums are chains as long as the window in which the
// processor looks for work: measured on a Zen 3, two vectors make calls of pow, exp and log in a loop
// 1.2 times as fast as one, and windows of 25 numbers 1.1 times, distances by sin, cos and asin 1.35
// times. With many registers, two vectors take 0.7 to 0.9 of the time of one in long inner loops whose
// values all have registers (Zen 4; Collatz lengths, Kepler's equation, the Lorenz system). If
// registers are scarce, code tries fewer vectors, down to least. With few registers, two vectors in
// rounds of medium cost take 0.6 to 0.75 of the time of one in loops that end by their values (Zen 3;
// Collatz lengths, Newton's basins), and 0.91 to 1 in others (rays against spheres, recurrences). With
// many registers, three vectors in such rounds take 0.83 to 0.99 of the time of two, if they have
// registers (Emerald Rapids; Collatz lengths, sums of kernels, Lyapunov exponents, rays), and 1.8 if
// they divide integers (trial division).
func (l *lowering) choose(plan Schedule) int {
	w := &l.weight
	switch {
	case len(l.nest.Locals) > 0: // they have room for one vector
		return 1
	case l.lanes < 0: // there is one point
		return 1
	case plan.together > 0:
		return plan.together
	case l.few() && w.carry > mostCarried:
		return 1
	case l.few() && w.inner > 0 && w.inner <= shortRound:
		return 3
	case l.few() && w.inner == 0 && w.cost <= longestBody, l.few() && w.inner > 0 && w.inner <= longBody && w.calls:
		return 2
	case l.few() && w.inner > 0 && w.inner <= mediumRound:
		return 2
	case l.few():
		return 1
	case w.open && w.inner <= 100 && !w.whole:
		return 2
	case w.inner > 0 && w.inner <= 16, w.inner == 0 && w.cost <= 16:
		return 4
	case w.inner > 0 && w.inner <= shortRound, w.inner > 0 && w.inner <= mediumRound && !w.whole, w.inner == 0 && w.cost <= 100:
		return 3
	case w.inner == 0 && w.cost <= longestBody, w.inner > 0 && w.inner <= longBody:
		return 2
	}
	return 1
}

// Together returns how many points of a row code for a nest evaluates at a time, if registers are not
// scarce.
func Together(t Target, n *loop.Nest) int {
	l := &lowering{target: targetNamed(t), nest: loop.Unroll(n, straight), lanes: -1}
	l.weight = weigh(&l.nest.Body)
	if k := len(n.Space); k > 0 {
		l.lanes = n.Space[k-1].Name
	}
	return l.target.lanes * l.choose(Schedule{})
}

// writtenTimes returns how often the body of an inner loop that contains no other is written. Counting,
// jumping and the fuel of a round take some six instructions. Vectors that are lowered together share
// them, and with few registers their carried values would lose theirs: a recurrence takes 1.17 times as
// long (Zen 3). Trees of prices take 0.8 of the time (AVX-512, Emerald Rapids).
func (l *lowering) writtenTimes(b *loop.Block) int {
	switch cost := weigh(b).cost; {
	case l.alongBody[b]:
	case cost <= 24:
		return 4
	case cost <= 60:
		return 2
	}
	return 1
}

// least returns the smallest number of vectors that are lowered together if registers are scarce.
func (l *lowering) least() int {
	if w := &l.weight; w.inner > shortRound || l.few() && w.open {
		return 1
	}
	return 2
}

// fitting returns how many of the vectors that are lowered together have registers for their states of
// reduced results, and least at least.
func (l *lowering) fitting() int {
	words := 0
	for _, r := range l.reduced {
		words += len(r.words)
	}
	if words == 0 {
		return l.together
	}
	return max(l.least(), min(l.together, l.vectors/words))
}

// full says that fewer vectors will be lowered together because states alone take more registers than
// there are. Then the rest of the program need not be made. It matters for exact sums of many words:
// code that merges the states of vectors and lanes is most of their program.
func (l *lowering) full() bool { return l.free && l.fitting() < l.together }

// What follows lowers several vectors together. Statement by statement their instructions alternate, so
// the processor works on one while the other waits, and the instructions that count and jump are
// shared.

// each calls f for every part, which is the present one meanwhile. What f changes of it stays.
func (l *lowering) each(f func(k int)) {
	for k := range l.parts {
		l.part = l.parts[k]
		f(k)
		l.parts[k] = l.part
	}
}

// begin makes so many parts of the body of the nest, all lanes counting or those of a mask.
func (l *lowering) begin(parts int, mask virt) {
	l.parts = l.parts[:0]
	n := l.nest
	for k := range parts {
		f := append(l.shop.frames.list(1), frame{vals: l.cut(len(n.Types)), types: n.Types, tables: n.Tables, body: &n.Body, nest: true})
		p := part{frame: &f[0], active: mask, number: k}
		if l.square {
			p.number, p.row = 0, k
		}
		l.parts = append(l.parts, p)
	}
	l.top, l.keyed = mask, nil
}

// first reports the first of the vectors.
func (p *part) first() bool { return p.number == 0 && p.row == 0 }

// reads is how often statements of the body read v.
func (l *lowering) reads(v loop.Val) int {
	if f := l.frame; l.readIn != f.body {
		l.readIn, l.read = f.body, l.shop.ints.zeros(len(f.vals))
		note := func(v loop.Val) { l.read[v]++ }
		loop.EachStmt(f.body, func(s *loop.Stmt) { s.EachRead(note) })
		for _, v := range f.body.Yield {
			note(v)
		}
	}
	return l.read[v]
}

// straight is up to how many statements inner loops of known rounds are written out: short ones
// wait for nothing then, and the subscripts of locals are constants.
const straight = 160
