package dist

// This file brings together sparse matrices of which ranks have parts: each rank sends each other one
// the entries of that one's rows (plan.Gathered.Own), or all it has to all.
//
// How many entries there are only the run knows. So a part is several messages with the tag of the
// gather, one after the other: the row pointers, which have a size that all know, the columns, and
// the values if there are any. A sender starts all at once; a receiver asks for the row pointers,
// and when they are there, for the rest. Nothing is copied.

import (
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/dist/transport"
)

// sparseGathering is one round of the gather of a sparse matrix.
type sparseGathering struct {
	tag   int
	elem  types.Elem
	cols  int
	parts []*value.CSR // by rank
	left  []int        // by rank: its messages that are awaited
}

// gatherSparse is local.Remote.GatherSparse. A worker calls it.
func (r *rank) gatherSparse(key int, m *value.CSR, finished func([]*value.CSR)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return
	}
	x := &r.gathers[key]
	x.begun++
	g := r.newSparse(key)
	s := g.sparse
	g.finished = func() { finished(s.parts) }
	mine := func(of int) *value.CSR {
		lo, hi := plan.Window(of, r.n, m.Rows)
		return m.View(lo, hi-lo)
	}
	s.parts[r.me] = mine(r.me)
	for k := 1; k < r.n; k++ { // each begins with another one
		from, to := (r.me+r.n-k)%r.n, (r.me+k)%r.n
		r.takeSparse(g, key, from)
		part := s.parts[r.me]
		if x.Own {
			part = mine(to)
		}
		r.giveSparse(g, to, part)
	}
	r.nudge()
}

// newSparse is a round of gather key that nobody waits for.
func (r *rank) newSparse(key int) *gathering {
	x := &r.gathers[key]
	return &gathering{finished: func() {}, sparse: &sparseGathering{tag: int(r.window) + key, elem: x.Type.Elem, cols: x.Type.Cols,
		parts: make([]*value.CSR, r.n), left: make([]int, r.n)}}
}

// messagesOf is the number of messages of a part of a sparse matrix.
func messagesOf(e types.Elem) int {
	if e == types.Bool {
		return 2
	}
	return 3
}

// giveSparse sends a part. mu is held, here and below.
func (r *rank) giveSparse(g *gathering, to int, part *value.CSR) {
	ptr, col, val := part.Parts()
	for _, b := range [][]byte{ptr, col, val}[:messagesOf(part.Elem)] {
		g.left++
		r.track(r.comm.Isend(transport.Data, to, g.sparse.tag, b), flight{kind: giving, peer: int32(to), buf: b, whole: g, started: r.now()})
	}
}

// takeSparse asks for a part: for its row pointers.
func (r *rank) takeSparse(g *gathering, key, from int) {
	x, s := &r.gathers[key], g.sparse
	of := from
	if x.Own {
		of = r.me
	}
	lo, hi := plan.Window(of, r.n, x.Type.Rows)
	part := &value.CSR{Elem: s.elem, Rows: hi - lo, Cols: s.cols, Ptr: make([]int64, hi-lo+1)}
	s.parts[from], s.left[from] = part, messagesOf(s.elem)
	g.left += s.left[from]
	ptr, _, _ := part.Parts()
	r.take(g, from, ptr)
}

func (r *rank) take(g *gathering, from int, b []byte) {
	r.track(r.comm.Irecv(transport.Data, from, g.sparse.tag, b), flight{kind: taking, peer: int32(from), buf: b, whole: g, started: r.now()})
}

// took handles the arrival of a message of a part. After the row pointers it asks for the rest.
// pollMu is held.
func (s *sparseGathering) took(r *rank, f *flight) {
	from := int(f.peer)
	if s.left[from]--; s.left[from] != messagesOf(s.elem)-1 {
		return
	}
	part := s.parts[from]
	first := part.Ptr[0]
	for i := range part.Ptr {
		part.Ptr[i] -= first
	}
	room := value.NewCSR(part.Elem, 0, part.Cols, int(part.Ptr[part.Rows]))
	part.Col, part.F64, part.F32, part.I64 = room.Col, room.F64, room.F32, room.I64
	_, col, val := part.Parts()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range [][]byte{col, val}[:messagesOf(s.elem)-1] {
		r.take(f.whole, from, b)
	}
}

// fillSparse makes the other side of a round that another rank has begun and this one has not: it
// sends no entries. pollMu is held.
func (r *rank) fillSparse(key, peer int) {
	g := r.newSparse(key)
	r.takeSparse(g, key, peer)
	of := r.me
	if r.gathers[key].Own {
		of = peer
	}
	lo, hi := plan.Window(of, r.n, r.gathers[key].Type.Rows)
	r.giveSparse(g, peer, value.NewCSR(g.sparse.elem, hi-lo, g.sparse.cols, 0))
}
