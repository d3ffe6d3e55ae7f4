package enginetest

// This file gives rows loops, so that engines run them in chunks of elements, seven a leaf.

import (
	"math"
	"sync/atomic"
	"time"

	"flow/ir/op"
	"flow/ir/value"
)

// leaf is small and odd, so that small matrices have several chunks and most a shorter last one.
const leaf = 7

// elements is a loop over the elements of the result, or of the first input if the result is a
// scalar.
func elements(chunk func(c *op.Call, lo, hi int) error) *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (int, int) {
			if c.Type.IsDense() {
				return c.Type.Count(), leaf
			}
			return c.In[0].Type().Count(), leaf
		},
		Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return &body{c, chunk}, nil },
	}
}

type body struct {
	c     *op.Call
	chunk func(c *op.Call, lo, hi int) error
}

func (b *body) Chunk(_, lo, hi int) error { return b.chunk(b.c, lo, hi) }
func (b *body) End() error                { return nil }

// summing is the loop of total: a sum of integers for each worker, added at the end.
func summing() *op.Loop {
	return &op.Loop{
		Space: func(c *op.Call) (int, int) { return c.In[0].Type().Count(), leaf },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return &sums{c, make([]int64, workers)}, nil },
	}
}

type sums struct {
	c  *op.Call
	of []int64
}

func (s *sums) Chunk(worker, lo, hi int) error {
	for _, x := range s.c.Dense(0).F64[lo:hi] {
		s.of[worker] += int64(x) // random plans hold integers only
	}
	return nil
}

func (s *sums) End() error {
	sum := int64(0)
	for _, x := range s.of {
		sum += x
	}
	s.c.Out = value.F64(math.Mod(float64(sum), 1000))
	return nil
}

// Chunks counts the chunks of `picky`, for tests of how soon a loop stops.
var Chunks atomic.Int64

// picky fails for elements equal to attribute `bad`, or in `worse`, and panics for `terrible`.
// Attribute `after` is the microseconds of a chunk after the bad element.
func picky(c *op.Call, lo, hi int) error {
	Chunks.Add(1)
	for i, x := range c.Dense(0).F64[lo:hi] {
		if bad, ok := c.Attrs.Get("bad"); ok && x == bad.F {
			return op.Failf("E606", "element %v is bad", x)
		} else if after := c.Attrs.Int("after"); ok && after > 0 && i == 0 && x > bad.F {
			time.Sleep(time.Duration(after) * time.Microsecond)
		}
		for _, w := range c.Attrs.Ints("worse") {
			if x == float64(w) {
				return op.Failf("E606", "element %v is worse", x)
			}
		}
		if t, ok := c.Attrs.Get("terrible"); ok && x == t.F {
			panic("terrible")
		}
	}
	copy(c.Result().F64[lo:hi], c.Dense(0).F64[lo:hi])
	return nil
}
