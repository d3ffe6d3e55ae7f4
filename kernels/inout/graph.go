package inout

// This file defines read_graph. How many vertices a list of edges has only the whole list tells,
// and a program wants to know it before the run (`seq(1, G.rows + 1)`), so the file is read when
// the program is checked and kept for the run.

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/format"
)

func readGraphRow(files *fileCache) *op.Def {
	return &op.Def{
		Name: "read_graph",
		Doc: "read_graph is the graph in a file as a sparse bool matrix: element (i, j) is true where an edge goes from i to j. The file is a list " +
			"of edges, a line `from to` each, separated by blanks, a tab or a comma, with comments after # (.txt, .csv, .tsv and any other name, " +
			"each also .gz), or a square sparse matrix (.mtx of coordinates, .csr). Vertices count from 0; there is one more than the greatest that occurs. " +
			"The whole file is read before the run, because it tells the size.",
		Args: []op.Arg{
			{Name: "path", Attr: true, Kind: op.StrVal, Doc: "file name, relative to the working directory"},
			{Name: "form", Attr: true, Kind: op.StrVal, Optional: true, Doc: "\"mtx\", \"csr\" or \"txt\", where the extension does not tell"},
		},
		Eg: []op.Example{{Program: "emit sparse(eye(2)) to \"g.mtx\"   # in another program: G = read_graph(\"g.mtx\")"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := files.graph(s.Attrs.Str("path"), s.Attrs.Str("form"))
			if t, err = files.looked.note(s.Attrs.Str("path"), t, err); err != nil {
				return types.Type{}, fileFault(0, err)
			}
			return t, nil
		},
		Ref:   func(c *op.Call) (value.Value, error) { return files.readSparse(c, graphFile) },
		Reads: pathRead, Looked: files.looked.list,
		Parts:  func(a *op.Attrs) bool { return files.strewn(a, graphFile) || files.summed(a) },
		Strewn: func(a *op.Attrs) bool { return files.strewn(a, graphFile) },
		Laws:   op.Pure, Stored: files.storedGraph, Cost: define.SparseCost(0),
		Kernel: func(c *op.Call) (err error) { c.Out, err = files.readSparse(c, graphFile); return err },
	}
}

// graph is the type of the graph in a file, which is kept for the run.
func (f *fileCache) graph(path, form string) (types.Type, error) {
	o := format.Options{Form: form}
	k, s := f.keyOf(path, o, graphFile)
	if s != nil {
		_, m, err := s.contents(k, o)
		return headOf(nil, m).Type(), err
	}
	f.check(k)
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.heads[k]
	if !ok {
		if x := f.in.known(path, k); x != nil {
			r.head, r.kept, r.summed, r.uncut = x.Head, x.Kept, x.Summed, !x.Summed
		} else if r.err = f.in.brief(path); r.err != nil {
			f.in.begin(path, k, o)
		} else if x, ok := format.Keep(path, f.in.sharing(o), true); ok {
			r.head, r.kept = x.Header, true
			f.in.learn(path, k, r.head).Kept = true
			f.counts[k] = f.in.count(path, k, r.head, x.ByRow, x.ByCol)
		} else if x, ok := f.graphRows(path, o); ok {
			r.head, r.summed = x.Header, true
			f.in.learn(path, k, r.head).Summed = true
			f.counts[k] = f.in.count(path, k, r.head, x.ByRow, x.ByCol)
		} else if m, err := f.in.readGraph(path, k, o); err != nil {
			r.err = err
		} else {
			r.head = headOf(nil, m)
			r.whole = f.in.Share == nil && format.Plain(path)
			r.uncut = true
			f.graphs[k] = m
			if f.in.learn(path, k, r.head); f.in.Share != nil { // the others wait for it
				f.sketched(path, k, m)
			}
		}
		f.heads[k] = r
	}
	return r.head.Type(), r.err
}

// graphRows is format.GraphRows for several processes: each reads its own blocks.
func (f *fileCache) graphRows(path string, o format.Options) (x format.Kept, ok bool) {
	if f.in.Share == nil {
		return x, false
	}
	return format.GraphRows(path, f.in.sharing(o))
}

// summed reports whether each rank reads its own rows of the graph in a file.
func (f *fileCache) summed(a *op.Attrs) bool {
	k, _ := f.keyOf(a.Str("path"), format.Options{Form: a.Str("form")}, graphFile)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heads[k].summed
}

// sketch counts the elements of the rows and columns of the graph in a file. A graph that the run
// has taken is read again: what a program means must not depend on whether another has run.
func (f *fileCache) sketch(path, form string) (sparsity.Estimate, error) {
	if _, err := f.graph(path, form); err != nil {
		return sparsity.Estimate{}, err
	}
	o := format.Options{Form: form}
	k, s := f.keyOf(path, o, graphFile)
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.counts[k]; ok {
		return e, nil
	}
	m := f.graphs[k]
	x := f.in.known(path, k)
	var err error
	switch {
	case x != nil && x.ByRow != nil:
		e := sparsity.Counts(x.ByRow, x.ByCol)
		f.counts[k] = e
		return e, nil
	case s != nil:
		if _, m, err = s.contents(k, o); err != nil {
			return sparsity.Estimate{}, err
		}
	case m == nil:
		if m, err = format.ReadGraph(path, f.in.counting(o)); err != nil {
			return sparsity.Estimate{}, err
		}
		f.graphs[k] = m
	}
	return f.sketched(path, k, m), nil
}

// sketched notes how many elements each row and column of m has, the graph in a file. The lock is held.
func (f *fileCache) sketched(path string, k fileKey, m *value.CSR) sparsity.Estimate {
	rows, cols := sketchOf(m)
	e := f.in.count(path, k, headOf(nil, m), rows, cols)
	f.counts[k] = e
	return e
}

// sketchOf counts the elements of every row and column of m.
func sketchOf(m *value.CSR) (rows, cols []float64) {
	rows, cols = make([]float64, m.Rows), make([]float64, m.Cols)
	for i := range rows {
		rows[i] = float64(m.Ptr[i+1] - m.Ptr[i])
	}
	for _, j := range m.Col[m.Ptr[0]:m.Ptr[m.Rows]] {
		cols[j]++
	}
	return rows, cols
}

// storedGraph is the sketch of the graph in a file, which is read if it is not there any more.
func (f *fileCache) storedGraph(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	e, err := f.sketch(s.Attrs.Str("path"), s.Attrs.Str("form"))
	if err != nil || e.Rows != out.Rows || e.Cols != out.Cols {
		return sparsity.Unknown(out.Rows, out.Cols)
	}
	return e
}
