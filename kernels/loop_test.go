package kernels

import (
	"math/rand/v2"
	"sync"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// checkLoop runs a call as a loop, in random chunks on a random number of workers, and compares. Every table-driven test comes here.
func checkLoop(t *testing.T, c *op.Call, want value.Value) {
	t.Helper()
	if c.Def.Loop == nil {
		return
	}
	n, leaf := c.Def.Loop.Space(c)
	if n == 0 {
		return
	}
	if leaf < 1 {
		t.Fatalf("%s: a leaf of %d iterations", c.Def.Name, leaf)
	}
	r := rand.New(rand.NewPCG(uint64(n), uint64(leaf)))
	for round := range 2 {
		own := *c
		own.Out = nil
		lend(&own)
		workers := 1 + round*(1+r.IntN(5))
		got, err := chunked(r, &own, n, leaf, workers)
		if err != nil {
			t.Fatalf("%s as a loop: %v", c.Def.Name, err)
		}
		if msg := differ(got, want); msg != "" {
			t.Fatalf("%s to %v as a loop of %d iterations on %d workers: %s", c.Def.Name, c.Type, n, workers, msg)
		}
	}
}

// chunked executes a loop in random chunks, in random order, on workers goroutines.
func chunked(r *rand.Rand, c *op.Call, n, leaf, workers int) (value.Value, error) {
	body, err := c.Def.Loop.Begin(c, workers)
	if err != nil {
		return nil, err
	}
	var chunks [][2]int
	for lo, units := 0, (n+leaf-1)/leaf; lo < units; {
		hi := lo + 1 + r.IntN(max(1, units/3))
		chunks = append(chunks, [2]int{lo * leaf, min(hi*leaf, n)})
		lo = hi
	}
	r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
	var all sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		all.Go(func() {
			for k := w; k < len(chunks); k += workers {
				if err := body.Chunk(w, chunks[k][0], chunks[k][1]); err != nil {
					errs[w] = err
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return c.Out, body.End()
}

// loopShapes are larger than a leaf in every way that a loop can be cut: many rows, rows of many leaves, rows cut in segments, one column.
var loopShapes = [][2]int{{700, 60}, {40000, 1}, {3, 40000}, {1, 150000}, {2, 140000}, {900, 70}}

func TestElementwiseLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	ran := 0
	for _, d := range rows(t) {
		if d.Elt == nil || d.Loop == nil {
			continue
		}
		for try := 0; try < 12; try++ {
			shape := loopShapes[r.IntN(len(loopShapes))]
			e := elemsUnderTest[r.IntN(4)]
			in := []value.Value{anyDense(r, e, shape[0], shape[1])}
			for range len(d.Args) - 1 {
				in = append(in, operands(r, e, shape[0], shape[1]))
			}
			if d.Loops.SelF64 != nil {
				in[0] = anyDense(r, types.Bool, shape[0], shape[1])
			}
			if _, ok := check(t, d, nil, in); ok {
				ran++
				break
			}
		}
	}
	if ran < 40 {
		t.Errorf("only %d rows ran", ran)
	}
}

// Fused chains as loops, with operands of every mode, in place too.
func TestMapLoops(t *testing.T) {
	defs := elementwise()
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(33, 34))
	for round := range 40 {
		shape := loopShapes[round%len(loopShapes)]
		p, in, e := randomProgram(r, defs, shape[0], shape[1])
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, shape[0], shape[1])}
		lend(c)
		if err := mapRow.Kernel(c); err != nil {
			t.Fatal(err)
		}
		want := c.Out
		checkLoop(t, c, want)
		n, leaf := mapRow.Loop.Space(c)
		for k, o := range p.In {
			d, ok := in[k].(*value.Dense)
			if !ok || o.Mode != op.Full || d.Elem != e {
				continue
			}
			own := *c
			out := d.Clone()
			own.In = append([]value.Value(nil), in...)
			own.In[k], own.Out = out, out
			got, err := chunked(r, &own, n, leaf, 3)
			if err != nil {
				t.Fatal(err)
			}
			if msg := differ(got, want); msg != "" {
				t.Fatalf("in place of operand %d, %s: %s", k, describe(p), msg)
			}
		}
	}
}

// A loop that runs again and again must not allocate.
func TestMapLoopAllocatesNothing(t *testing.T) {
	defs := elementwise()
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(35, 36))
	p, in, e := randomProgram(r, defs, 2000, 60)
	c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, 2000, 60)}
	lend(c)
	n, leaf := mapRow.Loop.Space(c)
	if n <= leaf {
		t.Fatal("one chunk")
	}
	allocs := testing.AllocsPerRun(20, func() {
		body, err := mapRow.Loop.Begin(c, 2)
		if err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < n; lo += leaf {
			if err := body.Chunk(lo/leaf%2, lo, min(lo+leaf, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := body.End(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 2 { // a garbage collection may empty the pools
		t.Errorf("%v allocations", allocs)
	}
}
