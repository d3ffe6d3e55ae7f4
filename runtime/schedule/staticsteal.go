package schedule

// This file defines StaticSteal: STATIC blocks in units of MinChunk iterations; who has done its own takes a quarter of
// another's rest.

type staticSteal struct {
	loop
	unit int
}

// newStaticSteal takes AUTO_CHUNK's size as unit where none is given.
func newStaticSteal(p Params) (Calculator, error) {
	unit := p.MinChunk
	if p.unsized {
		unit = autoChunk(p.N, p.P)
	}
	return &staticSteal{loop{p}, max(unit, ceilDiv(p.N, maxUnits))}, nil
}

// Unit is the size of the chunks, larger where 2^31 of them would not cover the loop.
func (c *staticSteal) Unit() int { return c.unit }

// Initial is the STATIC block of a worker.
func (c *staticSteal) Initial(worker int) (lo, hi int) {
	units := ceilDiv(c.N, c.unit)
	q, r := units/c.P, units%c.P
	lo = worker*q + min(worker, r)
	hi = lo + q
	if worker < r {
		hi++
	}
	return lo, hi
}

// Piece is one unit.
func (c *staticSteal) Piece(_, _, _ int) int { return 1 }

// Loot is a quarter, at least a unit.
func (c *staticSteal) Loot(lo, hi int) int { return max(1, (hi-lo)>>2) }
