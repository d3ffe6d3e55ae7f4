package schedule

// This file defines StaticSteal: STATIC blocks in units of MinChunk iterations; a worker that has
// finished takes a quarter of another's rest.

type staticSteal struct {
	loop
	unit int
}

// newStaticSteal uses AUTO_CHUNK's size as default unit.
func newStaticSteal(p Params) (Calculator, error) {
	unit := p.MinChunk
	if p.unsized {
		unit = autoChunk(p.N, p.P)
	}
	return &staticSteal{loop{p}, max(unit, ceilDiv(p.N, maxUnits))}, nil
}

// Unit returns the size of the chunks, larger if 2^31 of them would not cover the loop.
func (c *staticSteal) Unit() int { return c.unit }

// Initial returns the STATIC block of a worker.
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

// Piece returns one unit.
func (c *staticSteal) Piece(_, _, _ int) int { return 1 }

// Steal returns a quarter, at least a unit.
func (c *staticSteal) Steal(lo, hi int) int { return max(1, (hi-lo)>>2) }
