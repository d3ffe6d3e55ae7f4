package dist

// This file brings together the parts that ranks have of a sparse matrix. Each rank sends each other
// one entries of that one's rows (plan.Gathered.Own), or of its own.
//
// The number of entries is known only at run time. So a part is several messages with the tag of the
// gather, in this order: the lengths of its rows, whose size all ranks know, the columns, and the
// values unless the elements are bool. A sender starts all of them at once. A receiver posts the
// receive of the lengths, and those of the rest when the lengths have arrived. No entry is copied.
//
// Receives match messages of one tag in the order in which they are posted. So a rank must not post
// the lengths of a round before the rest of the round before it (see fillSparse).

import (
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/dist/transport"
)

// gatherSparse is local.Remote.GatherSparse. A worker calls it.
func (r *rank) gatherSparse(key int, give []*value.CSR, finished func([]*value.CSR)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return // the run ends
	}
	x := &r.gathers[key]
	x.begun++
	g := r.newSparse(key)
	s := g.sparse
	g.finished = func() { finished(s.parts) }
	s.parts[r.me] = give[r.me]
	for k := 1; k < r.n; k++ { // each begins with another one
		from, to := (r.me+r.n-k)%r.n, (r.me+k)%r.n
		r.takeSparse(g, from)
		r.giveSparse(g, to, give[to])
	}
	r.nudge()
}

// newSparse returns a round of gather key without transfers, whose end has no effect.
func (r *rank) newSparse(key int) *gathering {
	x := &r.gathers[key]
	return &gathering{of: x, round: x.begun, finished: func() {}, sparse: &sparseGathering{key: key, elem: x.Type.Elem, cols: x.Type.Cols,
		parts: make([]*value.CSR, r.n), rows: make([][]int32, r.n), left: make([]int, r.n), fills: make([]int, r.n)}}
}

// tag returns the tag of the messages of a gather.
func (r *rank) tag(key int) int { return int(r.window) + key }

// messagesOf returns the number of messages of a part of a sparse matrix.
func messagesOf(e types.Elem) int {
	if e == types.Bool {
		return 2
	}
	return 3
}

// giveSparse starts the sends of a part. mu is held.
func (r *rank) giveSparse(g *gathering, to int, part *value.CSR) {
	col, val := part.Parts()
	for _, b := range [][]byte{bytesOf(part.Lengths()), col, val}[:messagesOf(part.Elem)] {
		g.left++
		f := flight{kind: giving, peer: int32(to), buf: b, whole: g, started: r.now()}
		r.track(r.comm.Isend(transport.Data, to, r.tag(g.sparse.key), b), f)
	}
}

// takeSparse posts the receive of the lengths of the rows of a part. mu is held.
func (r *rank) takeSparse(g *gathering, from int) {
	s := g.sparse
	x := &r.gathers[s.key]
	of := from
	if x.Own {
		of = r.me
	}
	lo, hi := x.Window(of, r.n)
	s.rows[from], s.left[from] = make([]int32, hi-lo), messagesOf(s.elem)
	g.left += s.left[from]
	x.pointers[from] = s
	r.take(g, from, bytesOf(s.rows[from]))
}

// take posts the receive of one message of a part. mu is held.
func (r *rank) take(g *gathering, from int, b []byte) {
	f := flight{kind: taking, peer: int32(from), buf: b, whole: g, started: r.now()}
	r.track(r.comm.Irecv(transport.Data, from, r.tag(g.sparse.key), b), f)
}

// took handles the arrival of a message of a part. After the lengths it posts the receives of
// the rest. pollMu is held.
func (s *sparseGathering) took(r *rank, f *flight) {
	from := int(f.peer)
	if s.left[from]--; s.left[from] != messagesOf(s.elem)-1 {
		return
	}
	part := value.NewCSR(s.elem, 0, s.cols, value.Entries(s.rows[from]))
	part.SetLengths(s.rows[from])
	s.parts[from], s.rows[from] = part, nil
	col, val := part.Parts()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range [][]byte{col, val}[:messagesOf(s.elem)-1] {
		r.take(f.whole, from, b)
	}
	r.gathers[s.key].pointers[from] = nil
	for range s.fills[from] {
		r.fillSparse(s.key, from)
	}
}

// fillSparse is this rank's side of a round that another rank has begun and this one has not: it
// sends no entries. Where this rank still awaits lengths of an earlier round, the round follows
// when these have arrived. pollMu and mu are held.
func (r *rank) fillSparse(key, peer int) {
	if s := r.gathers[key].pointers[peer]; s != nil {
		s.fills[peer]++
		return
	}
	g := r.newSparse(key)
	r.takeSparse(g, peer)
	of := r.me
	if r.gathers[key].Own {
		of = peer
	}
	lo, hi := r.gathers[key].Window(of, r.n)
	r.giveSparse(g, peer, value.NewCSR(g.sparse.elem, hi-lo, g.sparse.cols, 0))
}
