package nest

// This file makes a batch of rounds of a loop in one call. The loop is a nest of one point. Its
// operands are the carried values, the other values that the body reads, and the most rounds to make.
// Its results are the carried values after these rounds.
//
// A call whose check fails changes nothing. Shorter calls follow until a single round fails. An
// interpreter makes that round: it reports the error, or succeeds where only the words of an exact sum
// were too few.

import (
	"time"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

const (
	// firstRounds is the number of rounds of the first call. The next call makes four times as many rounds
	// if a call takes less than batchTime. Progress is reported between calls.
	firstRounds = 256
	batchTime   = 50 * time.Millisecond
	// mostRounds is the most rounds of a call.
	mostRounds = 1 << 40
	// mostCarried is the most elements of a carried matrix in memory of the nest, which is one point. A
	// loop that carries as many changes them at a few places a round, or its stages are faster.
	mostCarried = 1 << 26
	// batchParts is the most parts for each worker of a call with several points. batchFrom is the least
	// number of operations of such a loop that is shared, in parts of TeamFrom: some 300 us of one worker.
	// longRounds is the number of rounds that is assumed if it is unknown.
	batchParts, batchFrom, longRounds = 16, 64, 1000
	// againFrom is the number of operations from which points are also tried where they are read
	// (Builder.again). If most elements stay, no copy of the matrix between two sweeps may be needed.
	againFrom = 4096
	// roundsTogether is the number of independent rounds of an inner loop that a vector evaluates
	// in a nest of one point. sumsTogether is the number for rounds with exact sums or functions.
	// It is larger because loads take less of their time.
	roundsTogether, sumsTogether = 2, 4
)

// batchKey tells the forms of a nest apart.
type batchKey struct {
	words  int  // of exact sums
	proved bool // see Form.Affine
}

// batchForm is the nest in one form.
type batchForm struct {
	loop     *launch.Loop // nil: the loop has no such nest, and why says the reason
	operands []Operand
	why      string
	few      int         // the most elements of a matrix in registers
	widest   int         // the most elements of one that rounds carry there
	points   int         // 1, or the rows of the carried matrices: see rowsCarried
	limit    int         // the most statements
	again    bool        // see Builder.again
	around   bool        // see Builder.around
	branched bool        // see Builder.branched
	made     bool        // the results end with the number of rounds made
	times    *roundCount // the number of rounds, if counters tell it; nil: they do not
}

// form returns the nest of a key. It has no loop if stages take fewer operations. It keeps matrices
// of the body in registers or in memory, whichever takes fewer operations.
func (c *batchCode) form(k batchKey) *batchForm {
	return c.forms.Of(k, func() *batchForm {
		best, widest := &batchForm{}, 1+define.Unrolled
		for _, few := range []int{define.Unrolled, define.WrittenLines, loop.VectorRounds - 1, loop.VectorRounds/2 - 1} {
			if widest <= few || few < loop.VectorRounds-1 && (best.loop == nil || !callsIn(best.loop.Nest().Body.Stmts)) {
				continue // the form would be the same, or slower
			}
			// A nest of more statements has more operations than stages.
			f := &batchForm{few: few, limit: min(bodyStatements, 1000+int(2*c.apart)), points: 1}
			f.why, _ = Written(func() { f.loop = LoopOf(f.write(c.a, c.known, k)) })
			if f.loop != nil {
				widest = f.widest
			}
			if few == define.Unrolled || f.loop != nil && (best.loop == nil || f.work() < best.work()) {
				best = f
			}
		}
		try := func(f *batchForm) {
			f.few, f.limit, f.points = best.few, best.limit, 1
			if Written(func() { f.loop = LoopOf(f.write(c.a, c.known, k)) }); f.loop != nil && f.work() < best.work() {
				best = f
			}
		}
		if best.loop != nil && best.work() > againFrom {
			try(&batchForm{again: true})
		}
		if best.branched {
			try(&batchForm{again: best.again, around: true})
		}
		if best.loop != nil && best.work() > c.apart && !c.numbers {
			best = &batchForm{} // stages are faster
		}
		if c.rows > 0 {
			f := &batchForm{few: define.WrittenLines, limit: stageOps, points: c.rows}
			Written(func() { f.loop = LoopOf(f.write(c.a, c.known, k)) })
			if f.loop != nil && f.work() <= c.apart && (best.loop == nil || f.work() < best.work()) {
				best = f
			}
		}
		return best
	})
}

// write writes loop a. The operands are the arguments of the loop's body, followed by the most rounds
// to make. Result i has a row for each point, of all elements that it has of carried value i.
func (f *batchForm) write(a *op.Action, known []writer, k batchKey) *loop.Nest {
	x := NewBuilder(Form{Words: k.words, Affine: k.proved})
	x.few, x.limit, x.most, x.again, x.around = f.few, f.limit, mostCarried, f.again, f.around
	in := make([]Ref, len(a.Args))
	for i := range in {
		if known[i] != nil {
			in[i] = known[i](x)
		} else {
			in[i] = x.Outer(a.Bodies[0], i)
		}
	}
	most := loop.Of(loop.ParamSym, x.param(types.ScalarOf(types.I64), Operand{Register: len(a.Args)}))
	at := loop.Num(0)
	if f.points > 1 {
		all := loop.Range{Kind: loop.Steps, To: loop.Num(int64(f.points)), By: 1}
		at, x.owned = loop.Of(loop.IndexSym, x.Index("i", all)), f.points
		x.own = at
	}
	out, made, times := x.iterated(a, in, make([]*MemoMap, 2), &most)
	f.made, f.times = made != loop.NoVal, times
	if f.made {
		out = append(out, Ref{Type: types.ScalarOf(types.I64), Val: made})
	}
	for k, y := range x.ownRows(out) {
		if t := out[k].Type; f.points > 1 && t.IsDense() && !x.owns(t) && !x.inRegisters(t) {
			panic(NoBody{Why: "a matrix that all points make"})
		}
		if y.Parts != nil || !isNumber(y.Type) && !y.Type.IsDense() {
			panic(NoBody{Why: "a result of " + y.Type.String()})
		}
		x.keepRow(y, at, loop.Num(int64(f.points)))
	}
	f.operands, f.widest, f.branched = x.Operands, x.widest, x.branched
	return loop.Merge(x.Done())
}

// batchOf returns loop a as a nest of one point. known[i] writes operand i of a into a nest, see
// Stages. s has the stages of a round, or is nil.
func batchOf(a *op.Action, known []writer, s *Stages) *batchCode {
	c := &batchCode{a: a, known: known, work: max(1, int64(ActionsOf(a.Bodies[0])))}
	for k, in := range a.Bodies {
		var changed []float64
		if k == 0 && s != nil {
			changed = s.changed()
		}
		c.apart += weighStages(in, changed)
	}
	for _, t := range a.Bodies[0].Args[:a.Attrs.Int("carry")] {
		if t.IsDense() {
			c.laid += int64(t.Count())
		}
	}
	c.rows, c.numbers = rowsCarried(a), numbersAlone(a.Bodies[0])
	c.work *= max(1, int64(c.rows/8))
	return c
}

// work estimates the operations of a round. Half of the statements are constants, loads and stores.
// As many points as a vector has lanes are one operation, as in weighStages.
func (f *batchForm) work() (ops float64) {
	n := f.loop.Nest()
	lanes := func(s *loop.Stmt) int {
		switch {
		case f.points > 1 || !loop.RoundsApart(n, s):
			return 1
		case s.N > 0 || callsIn(s.Loop.Body.Stmts):
			return sumsTogether
		}
		return roundsTogether
	}
	for _, s := range n.Body.Stmts {
		if s.Loop != nil && !s.Loop.Index.Range.To.Known() {
			ops += float64(loop.LengthBy(&s.Loop.Body, lanes)) / 2
			for k := range s.Loop.Body.Stmts { // see sideWeight
				if t := &s.Loop.Body.Stmts[k]; t.Then != nil && loop.Some([]loop.Stmt{*t}, func(s *loop.Stmt) bool { return s.Loop != nil }) {
					ops -= (1 - sideWeight) * float64(loop.LengthBy(t.Then, lanes)+loop.LengthBy(t.Else, lanes)) / 2
				}
			}
		}
	}
	vector := launch.Lanes()
	return (ops + gathered(n, &n.Body, 0)) * float64((f.points+vector-1)/vector)
}

// callsIn reports whether statements call functions such as exp.
func callsIn(list []loop.Stmt) bool {
	return loop.Some(list, func(s *loop.Stmt) bool { return s.Code == loop.Apply })
}

// gathered counts the elements that vectors of a round load from rows one below the other. A vector
// loads each of them as slowly as scalar code does. times is how often a round executes the block.
func gathered(n *loop.Nest, b *loop.Block, times float64) (count float64) {
	for k := range b.Stmts {
		s := &b.Stmts[k]
		if s.Loop == nil {
			s.EachBlock(func(b *loop.Block) { count += gathered(n, b, times) })
			continue
		}
		rounds := max(times, 1)
		if r := s.Loop.Index.Range; times > 0 && r.From.Known() && r.To.Known() {
			rounds *= float64(max(0, r.To.Const-r.From.Const))
		}
		if own := (loop.Sym{Kind: loop.IndexSym, N: s.Loop.Index.Name}); times > 0 && loop.RoundsApart(n, s) {
			for i := range s.Loop.Body.Stmts {
				if t := &s.Loop.Body.Stmts[i]; t.Code == loop.Load && len(t.At) > 1 && t.At[0].Coef(own) != 0 && !inColumn(n, t) {
					count += rounds
				}
			}
		}
		if times > 0 || !s.Loop.Index.Range.To.Known() {
			count += gathered(n, &s.Loop.Body, rounds)
		}
	}
	return count
}

// inColumn reports a load whose rows may follow each other in memory.
func inColumn(n *loop.Nest, s *loop.Stmt) bool {
	if s.Mem.Kind == loop.LocalMem {
		return n.Locals[s.Mem.N].Cols.Equal(loop.Num(1))
	}
	return s.At[1].Equal(loop.Num(0))
}

// What follows writes rounds in which no row reads another one: each row of the carried matrices makes
// all rounds on its own, as a point of a nest, with its state in registers. Programs write such rounds
// as operations on whole columns, and a round at a time would read and write each column in memory.

// rowsCarried returns the number of rows of all matrices with several rows that loop a carries, or 0.
func rowsCarried(a *op.Action) (n int) {
	for _, t := range a.Bodies[0].Args[:a.Attrs.Int("carry")] {
		switch {
		case !t.IsDense() || t.Rows <= 1:
		case n > 0 && n != t.Rows:
			return 0
		default:
			n = t.Rows
		}
	}
	return n
}
