package amd64

// This file drives the making of code: the loops over the window around the body.

import (
	"slices"
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
)

// Compile makes code of a target for the points of a window: of nests over two indices the lanes
// are the last one unless the schedule says otherwise, of nests over one its points. The operands
// and results are laid out as the layouts say. An error is an *Unsupported, or a bug.
//
// The code reads a block of words (see argRow and the others), evaluates points of the window and
// returns: when the window is ended, when a check failed, or when its fuel is spent. Then it is
// called again with the same block and new fuel, and goes on. It touches no memory but that of the
// points; subscripts are not checked, so the caller proves them from the window first. levels is for
// loop.StateOf: where a state has loop.State.Near, the caller says the size of the numbers.
func Compile(t Target, n *loop.Nest, params, results []Layout, levels int, plan Schedule) (code *Code, err error) {
	defer refused(&err)
	shop := shops.Get().(*workshop)
	defer func() {
		shop.free()
		shops.Put(shop)
	}()
	return lowered(targetNamed(t), n, params, results, levels, plan, shop).code()
}

// shops holds the workshops that no compilation uses now.
var shops = sync.Pool{New: func() any { return &workshop{} }}

// refused makes an error of a panic with an *Unsupported.
func refused(err *error) {
	if r := recover(); r != nil {
		u, ok := r.(*Unsupported)
		if !ok {
			panic(r)
		}
		*err = u
	}
}

// code writes the code of the program.
func (l *lowering) code() (*Code, error) {
	m := l.asm
	if m.at.reg == nil {
		m.at = l.allocate(m.registers, l.lives)
	}
	m.leave, m.failed = m.Label(), m.Label()
	m.spills = l.localsEnd
	unit, fuel := l.roundFuel()
	m.roundFuel = fuel
	m.enter()
	m.p = &l.program
	for k := range l.steps {
		m.step(&l.steps[k])
	}
	m.end()
	text, err := m.Finish()
	if l.shop.asm = m.Asm; err != nil {
		return nil, err
	}
	return &Code{Text: slices.Clone(text), Scratch: m.spills + m.at.slots*slotBytes, Words: argMemory + memoryWords*(len(l.nest.Params)+len(l.nest.Results)+len(l.nest.Locals)),
		Fuel: max(4, cyclesOfCall/unit), Points: l.target.lanes * max(1, l.together), sized: l.sized(), States: l.states}, nil
}

// lowered returns the program of a nest. It lowers fewer vectors together, at least two, if there are
// too few registers. It panics with an *Unsupported.
func lowered(t *target, n *loop.Nest, params, results []Layout, levels int, plan Schedule, shop *workshop) *lowering {
	n = loop.HandOn(loop.Forward(loop.Unroll(loop.Through(n), straight)))
	l := loweredOnce(t, n, params, results, levels, plan, shop)
	for free := plan.together == 0; free && l.together > l.least() && !l.few() && (l.full() || l.crowded()); {
		plan.together = min(l.together-1, l.fitting())
		shop.free() // l lay in it
		l = loweredOnce(t, n, params, results, levels, plan, shop)
	}
	return l
}

func loweredOnce(t *target, n *loop.Nest, params, results []Layout, levels int, plan Schedule, shop *workshop) *lowering {
	shop.asm.Reset()
	m := &shop.maker
	*m = maker{Asm: shop.asm, target: t, resume: m.resume[:0]}
	m.Asm.vexOnly = t.vexOnly()
	m.streams = plan.Stream
	l := &shop.lowering
	*l = lowering{target: t, nest: n, params: params, results: results, asm: m, counters: map[int]counter{}, lanes: -1, rows: -1,
		program: program{shop: shop},
		fetch:   plan.Fetch, keep: plan.Keep && !t.vexOnly(), levels: levels, states: map[int]*loop.State{}, stateOf: map[int]types.Elem{}, reductions: map[contribution]*reduction{}}
	l.fresh(maskClass) // steps without a result have an entry in lists by register, too
	switch len(n.Space) {
	case 0: // one point
	case 1:
		l.lanes = n.Space[0].Name
	case 2:
		l.rows, l.lanes = n.Space[0].Name, n.Space[1].Name
	default:
		unsupported(loop.Origin{}, "a space of %d indices", len(n.Space))
	}
	if plan.First {
		if !canTurn(n) {
			unsupported(loop.Origin{}, "lanes along the first index")
		}
		l.rows, l.lanes = l.lanes, l.rows
	}
	for _, x := range n.Space {
		if x.Range.Kind != loop.Steps || x.Range.By != 1 {
			unsupported(loop.Origin{}, "a space with steps")
		}
	}
	l.findAlong()
	packed := l.narrow(t)
	n, m.target, m.Asm.longMasks = l.nest, l.target, l.bytewise()
	l.placeLocals()
	l.weight = weigh(&n.Body)
	l.together = l.choose(plan)
	l.free = plan.together == 0 && !l.few()
	if l.together == 1 && !packed { // Repeat verifies its result, and packed nests are for targets alone
		if l.nest = loop.Repeat(n, l.lanes, l.writtenTimes); l.nest != n {
			l.weight = weigh(&l.nest.Body)
		}
	}
	l.placeWords()
	l.roots = plan.Roots != nil && l.embeds && l.lanes >= 0 && l.rooted(&n.Body) && plan.Roots()
	if l.window(); l.full() {
		return l
	}
	if l.together > 1 && (l.bytewise() || l.pressure(l.live()) >= l.vectors) { // one for a mask on the way
		l.group()
	}
	if t.rewrite != nil {
		t.rewrite(&l.program, &m.Asm)
	}
	l.hoist()
	l.balance()
	l.reload(l.vectors)
	if l.vexOnly() {
		l.lives = l.splits(l.vectors, func() int32 {
			l.localsEnd += slotBytes
			return int32(l.localsEnd - slotBytes)
		})
	}
	l.readInPlace(l.target, l.lives)
	return l
}

// List is the code that Compile makes, for people.
func List(t Target, n *loop.Nest, params, results []Layout, plan Schedule) (list *Listing, err error) {
	defer refused(&err)
	l := lowered(targetNamed(t), n, params, results, loop.FastLevels, plan, &workshop{})
	l.asm.list = &[]listed{}
	c, err := l.code()
	if err != nil {
		return nil, err
	}
	list = &Listing{Lanes: l.target.lanes, Together: l.together, Text: l.asm.listing(c.Text)}
	if l.lanes >= 0 {
		list.Index = n.Names[l.lanes]
	}
	return list, nil
}
