package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// rmat is a graph of 2^scale vertices by recursive halving with the probabilities of Graph500 (D.
// Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: a recursive model for graph mining, SDM 2004).
func rmat(scale, edges int) *value.CSR {
	r := rand.New(rand.NewPCG(61, 62))
	n := 1 << scale
	rows := make([][]int32, n)
	for range edges {
		i, j := 0, 0
		for range scale {
			p := r.Float64()
			i, j = i<<1, j<<1
			if p >= 0.76 {
				i++
			}
			if p >= 0.57 && p < 0.76 || p >= 0.95 {
				j++
			}
		}
		rows[i] = append(rows[i], int32(j))
	}
	m := value.NewCSR(types.F64, n, n, 0)
	for i, row := range rows {
		slices.Sort(row)
		for k, j := range row {
			if k == 0 || j != row[k-1] {
				m.Col, m.F64 = append(m.Col, j), append(m.F64, r.Float64()+0.5)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}

// BenchmarkSparse measures operators on a graph by their kernel, and as loops whose units workers
// claim one by one.
func BenchmarkSparse(b *testing.B) {
	table, err := Table("")
	if err != nil {
		b.Fatal(err)
	}
	large, medium, small := rmat(18, 1<<22), rmat(16, 1<<19), rmat(14, 1<<17)
	pattern := &value.CSR{Elem: types.Bool, Rows: medium.Rows, Cols: medium.Cols, Ptr: medium.Ptr, Col: medium.Col}
	turned := &op.Call{Def: table.Must("sp.t"), In: []value.Value{large}, Type: large.Type()}
	if err := turned.Def.Kernel(turned); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		in   []value.Value
	}{{"sp.t", []value.Value{large}}, {"sp.add", []value.Value{large, turned.Out}}, {"sp.colsum", []value.Value{large}}, {"sp.t", []value.Value{medium}}, {"sp.t", []value.Value{pattern}}, {"sp.colsum", []value.Value{pattern}}, {"sp.sqrt", []value.Value{large}}, {"sp.sum", []value.Value{large}},
		{"sp.matmul", []value.Value{small, small}}} {
		d := table.Must(c.name)
		sig := &op.Sig{Def: d}
		for _, v := range c.in {
			sig.In = append(sig.In, v.Type())
		}
		typ, err := d.Type(sig)
		if err != nil {
			b.Fatal(err)
		}
		for workers := range 3 {
			b.Run(fmt.Sprintf("%s/of=%v/workers=%d", c.name, c.in[0].Type(), workers), func(b *testing.B) {
				for b.Loop() {
					call := &op.Call{Def: d, In: c.in, Type: typ}
					rowtest.Lend(call)
					err := error(nil)
					if workers == 0 { // the kernel
						err = d.Kernel(call)
					} else {
						err = claimed(call, workers)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// claimed runs a call as a loop, unit by unit.
func claimed(c *op.Call, workers int) error {
	n, leaf := c.Def.Loop.Space(c)
	body, err := c.Def.Loop.Begin(c, workers)
	if err != nil {
		return err
	}
	p, passes := body.(op.Passes)
	for again := true; again && err == nil; {
		var next atomic.Int64
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for {
					lo := int(next.Add(1)-1) * leaf
					if lo >= n {
						return
					}
					_ = body.Chunk(w, lo, min(lo+leaf, n))
				}
			})
		}
		all.Wait()
		if again = false; passes {
			again, err = p.Next()
		}
	}
	if err == nil {
		err = body.End()
	}
	return err
}
