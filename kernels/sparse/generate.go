package sparse

// This file defines the rows that make sparse matrices of nothing: rand_graph, rand_sparse,
// eye_sparse. Their numbers come from the counter of rand (package construct).

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/define"
)

func randGraph() *op.Def {
	return &op.Def{
		Name: "rand_graph",
		Doc: "rand_graph is a random directed graph as a sparse bool n x n matrix: edge k goes from floor(n u(2k)) to floor(n u(2k+1)) with u the " +
			"numbers of rand; loops and edges that come up twice are left in and merged.",
		Args: []op.Arg{{Name: "n", Attr: true, Kind: op.IntVal, Doc: "vertices"}, {Name: "e", Attr: true, Kind: op.IntVal, Doc: "edges drawn"}, define.SeedArg()},
		Eg:   define.Eg("rand_graph(10, 0)", "sparse bool[10,10], 0 stored\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			n, e, err := countsOf(s, "n", "e")
			if err != nil {
				return types.Type{}, err
			}
			if n == 0 && e > 0 {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "`rand_graph` draws %d edges among no vertices", e)
			}
			return sizedSparse(s, types.Bool, n, n, e, 12)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			n, seed := c.Attrs.Int("n"), uint64(c.Attrs.Int("seed"))
			joined := map[[2]int]bool{}
			for k := range uint64(c.Attrs.Int("e")) {
				joined[[2]int{int(float64(n) * construct.U01(seed, 2*k)), int(float64(n) * construct.U01(seed, 2*k+1))}] = true
			}
			m := value.NewCSR(types.Bool, n, n, 0)
			for i := range n {
				for j := range n {
					if joined[[2]int{i, j}] {
						m.Col = append(m.Col, int32(j))
					}
				}
				m.Ptr[i+1] = int64(len(m.Col))
			}
			return m, nil
		},
		Laws: op.Pure, Rate: "copy", ByRows: true,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: 20 * float64(s.Attrs.Int("e")), Bytes: 12 * float64(s.Attrs.Int("e"))}
		},
		Kernel: func(c *op.Call) error {
			lo, hi := define.OwnRows(c, c.Type.Rows)
			c.Out = randomGraph(c.Attrs.Int("n"), c.Attrs.Int("e"), uint64(c.Attrs.Int("seed")), lo, hi)
			return nil
		},
	}
}

func randSparse() *op.Def {
	density := op.Float(0.1)
	return &op.Def{
		Name: "rand_sparse",
		Doc: "rand_sparse is a sparse n x m matrix of f64 in which round(density * m) elements a row are uniform in (0, 1), at columns drawn " +
			"without replacement; a row is made from its number alone.",
		Args: []op.Arg{{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows"}, {Name: "m", Attr: true, Kind: op.IntVal, Doc: "columns"},
			{Name: "density", Attr: true, Kind: op.FloatVal, Default: &density, Doc: "share of elements that are not zero, 0 to 1"}, define.SeedArg()},
		Eg: define.Eg("nnz(rand_sparse(10, 20, density = 0.25))", "50"),
		Type: func(s *op.Sig) (types.Type, error) {
			n, m, err := countsOf(s, "n", "m")
			if err != nil {
				return types.Type{}, err
			}
			if d := densityOf(s.Attrs); !(d >= 0 && d <= 1) {
				return types.Type{}, op.Faultf(2, define.CodeAttr, "density of `rand_sparse` is %v; it lies between 0 and 1", value.F64(d))
			}
			return sizedSparse(s, types.F64, n, m, n*perRow(s.Attrs), 12)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			n, m, seed, per := c.Attrs.Int("n"), c.Attrs.Int("m"), uint64(c.Attrs.Int("seed")), perRow(c.Attrs)
			d := value.New(types.F64, n, m)
			for i := range n {
				cols := make([]int, m) // shuffled from the front, by Fisher and Yates
				for j := range cols {
					cols[j] = j
				}
				for k := range per {
					at := uint64(2 * (i*per + k))
					p := k + int(float64(m-k)*construct.U01(seed, at))
					cols[k], cols[p] = cols[p], cols[k]
					d.Set(i, cols[k], value.F64(positive(construct.U01(seed, at+1))))
				}
			}
			return define.KeptRef(d), nil
		},
		Laws: op.Pure, Rate: "copy", ByRows: true,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			n := float64(s.Attrs.Int("n")) * float64(perRow(s.Attrs))
			return op.Work{Flops: 40 * n, Bytes: 12 * n}
		},
		Loop: unitLoop(beginRandomRows),
	}
}

func eyeSparse() *op.Def {
	return &op.Def{
		Name: "eye_sparse",
		Doc:  "eye_sparse is the n x n identity as a sparse matrix of f64.",
		Args: []op.Arg{{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows"}},
		Eg:   define.Eg("sum(eye_sparse(100))", "100"),
		Type: func(s *op.Sig) (types.Type, error) {
			n, _, err := countsOf(s, "n", "n")
			if err != nil {
				return types.Type{}, err
			}
			return sizedSparse(s, types.F64, n, n, n, 12)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			n := c.Attrs.Int("n")
			d := value.New(types.F64, n, n)
			for i := range n {
				d.Set(i, i, value.F64(1))
			}
			return define.KeptRef(d), nil
		},
		Laws: op.Pure, Rate: "copy", ByRows: true,
		Cost: func(s *op.Sig, out types.Type) op.Work { return op.Work{Bytes: 20 * float64(out.Rows)} },
		Kernel: func(c *op.Call) error {
			lo, hi := define.OwnRows(c, c.Type.Rows)
			m := value.NewCSR(types.F64, hi-lo, c.Type.Cols, hi-lo)
			for i := range hi - lo {
				m.Col[i], m.F64[i], m.Ptr[i+1] = int32(lo+i), 1, int64(i)+1
			}
			c.Out = placedRows(m, lo, c.Type.Rows)
			return nil
		},
	}
}

// placedRows returns a matrix with the rows of m from row lo on. Its other rows are empty.
func placedRows(m *value.CSR, lo, rows int) *value.CSR {
	if m.Rows == rows {
		return m
	}
	return m.Padded(lo, rows)
}

// countsOf is two attributes that are numbers of things.
func countsOf(s *op.Sig, first, second string) (a, b int, err error) {
	n := [2]int{}
	for k, name := range []string{first, second} {
		v, ok := s.Attrs.Get(name)
		switch {
		case !ok:
			return 0, 0, op.Faultf(-1, define.CodeElem, "`%s` needs %s", s.Def.Source(), name)
		case v.Kind != op.IntVal:
			return 0, 0, op.Faultf(k, define.CodeAttr, "%s of `%s` is an i64, not %v", name, s.Def.Source(), v.Kind)
		case v.I < 0:
			return 0, 0, op.Faultf(k, define.CodeAttr, "%s of `%s` is negative: %d", name, s.Def.Source(), v.I)
		}
		n[k] = int(v.I)
	}
	return n[0], n[1], nil
}

// sizedSparse is the type of a sparse matrix with room for so many entries, or what forbids it.
func sizedSparse(s *op.Sig, e types.Elem, rows, cols, entries, each int) (types.Type, error) {
	t, err := Of(-1, types.DenseOf(e, rows, cols))
	if err != nil {
		return t, err
	}
	if tell, is := define.Scarce(8*float64(rows) + float64(each)*float64(entries)); is {
		return t, op.Faultf(-1, define.CodeMemory, "`%s`: %d rows and %d entries take %s", s.Def.Source(), rows, entries, tell)
	} else if entries > math.MaxInt32 {
		return t, op.Faultf(-1, define.CodeMemory, "`%s`: %d entries are more than a matrix of it holds (%d)", s.Def.Source(), entries, math.MaxInt32)
	}
	return t, nil
}

// randomGraph makes rows lo..hi-1 of a graph. It draws all sources, lays the edges out by source, and
// sorts each row.
func randomGraph(n, e int, seed uint64, lo, hi int) *value.CSR {
	m := value.NewCSR(types.Bool, hi-lo, n, 0)
	about := e
	if hi-lo < n { // hardly ever more than four deviations above the mean
		mean := float64(e) * float64(hi-lo) / float64(n)
		about = min(e, int(mean+4*math.Sqrt(mean)))
	}
	from, edge := make([]int32, about+1), make([]int32, about+1)
	kept, rows := 0, uint32(hi-lo)
	for k := range e { // no branch for the rank, which processors cannot predict
		i := uint32(int(float64(n)*construct.U01(seed, 2*uint64(k))) - lo)
		if kept == about {
			from, edge = append(from, from...), append(edge, edge...)
			about = len(from) - 1
		}
		from[kept], edge[kept] = int32(i), int32(k)
		kept += int((uint64(i) - uint64(rows)) >> 63)
	}
	from, edge = from[:kept], edge[:kept]
	to := edge
	for k, at := range edge {
		to[k] = int32(float64(n) * construct.U01(seed, 2*uint64(at)+1))
		m.Ptr[from[k]+1]++
	}
	m.Col = make([]int32, len(to))
	m.SumLengths()
	at := slices.Clone(m.Ptr[:m.Rows])
	for k, i := range from {
		m.Col[at[i]] = to[k]
		at[i]++
	}
	kept = 0
	for i := range m.Rows {
		row := m.Col[m.Ptr[i]:m.Ptr[i+1]]
		slices.Sort(row)
		m.Ptr[i] = int64(kept)
		for k, j := range row {
			if k == 0 || j != row[k-1] {
				from[kept] = j // from has been read
				kept++
			}
		}
	}
	m.Ptr[m.Rows] = int64(kept)
	m.Col = from[:kept]
	return placedRows(m, lo, n)
}

func densityOf(a *op.Attrs) float64 {
	if _, ok := a.Get("density"); !ok {
		return 0.1
	}
	return a.Float("density")
}

// perRow is how many elements a row of rand_sparse stores.
func perRow(a *op.Attrs) int { return int(math.RoundToEven(densityOf(a) * float64(a.Int("m")))) }

// positive is u, or the least number of rand above 0: what is stored is not zero.
func positive(u float64) float64 {
	if u == 0 {
		return 0x1p-53
	}
	return u
}

// randomRow draws the columns of a row without replacement: place k of a shuffle from the front
// (Fisher and Yates). Only the elements that were moved are remembered.
type randomRow struct {
	moved map[int]int
	row   []randomEntry
}

type randomEntry struct {
	col int
	x   float64
}

func beginRandomRows(c *op.Call, units, workers int) op.LoopBody {
	m, per, seed := c.Attrs.Int("m"), perRow(c.Attrs), uint64(c.Attrs.Int("seed"))
	first, end := define.OwnRows(c, c.Type.Rows)
	rows := c.Type.Rows
	out := value.NewCSR(types.F64, end-first, m, (end-first)*per)
	by := make([]randomRow, workers)
	return &UnitLoop{
		RowCut: evenly(units, end-first),
		Passes: []Pass{{func(worker, lo, hi int) error {
			r := &by[worker]
			if r.moved == nil {
				r.moved, r.row = map[int]int{}, make([]randomEntry, per)
			}
			for i := lo; i < hi; i++ {
				r.draw(first+i, m, seed)
				for k, x := range r.row {
					out.Col[i*per+k], out.F64[i*per+k] = int32(x.col), x.x
				}
				out.Ptr[i+1] = int64((i + 1) * per)
			}
			return nil
		}, func() (bool, error) { c.Out = placedRows(out, first, rows); return true, nil }}},
	}
}

// draw makes row i of m columns.
func (r *randomRow) draw(i, m int, seed uint64) {
	clear(r.moved)
	at := func(k int) int {
		if j, ok := r.moved[k]; ok {
			return j
		}
		return k
	}
	for k := range r.row {
		c := uint64(2 * (i*len(r.row) + k))
		p := k + int(float64(m-k)*construct.U01(seed, c))
		r.row[k] = randomEntry{at(p), positive(construct.U01(seed, c+1))}
		r.moved[p] = at(k)
	}
	slices.SortFunc(r.row, func(a, b randomEntry) int { return a.col - b.col })
}
