package dist

// This file runs gathers: each rank has made its own rows of a matrix (plan.Window), and others need
// all of them, or some (plan.Reach).
//
// Every rank runs every gather, in the same order where one depends on another, and each gather has a
// tag of its own. So the messages of one gather between two ranks match in the order of its rounds,
// and within a round in the order of their rows. Messages of different gathers, which may run at
// once, have different tags. Messages carry no numbers, and no receive is posted before its round:
// what a rank sends earlier waits in the transport.

import (
	"fmt"

	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/trace"
)

// prepareGathers lists the gathers of the plan. Their tags are the last ones (see rank.tag).
func (r *rank) prepareGathers() error {
	for _, x := range r.p.Gathers() {
		g := gathers{Gathered: x, key: len(r.gathers), give: make([][]plan.Range, r.n), take: make([][]plan.Range, r.n), pointers: make([]*sparseGathering, r.n),
			fetched: make([]fetched, r.n)}
		for peer := range r.n {
			if peer != r.me && !x.ByList() {
				g.give[peer], g.take[peer] = x.Rows(r.me, peer, r.n), x.Rows(peer, r.me, r.n)
				g.messages += len(g.give[peer]) + len(g.take[peer])
			}
		}
		r.gathers = append(r.gathers, g)
	}
	tags := min(r.comm.MaxTag(), 1<<30) + 1
	if len(r.gathers) >= tags {
		return fmt.Errorf("BUG: %d gathers of a plan and %d tags", len(r.gathers), tags)
	}
	r.window = int32(tags - len(r.gathers))
	return nil
}

// rowsOf returns the memory of rows of d, which is contiguous.
func rowsOf(d *value.Dense, x plan.Range) []byte {
	return d.View(x.From, 0, x.To-x.From, d.Cols).Bytes()
}

// gather is local.Remote.Gather. A worker calls it.
func (r *rank) gather(key int, d *value.Dense, finished func()) {
	if r.startGather(key, d, finished) {
		finished() // not under mu, which readers of the result may need
	}
}

// startGather starts the transfers of a round. It reports whether there are none.
func (r *rank) startGather(key int, d *value.Dense, finished func()) (none bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return false // the run ends, and Close frees d
	}
	x := &r.gathers[key]
	x.begun++
	if r.o.agree != nil && x.Whole() {
		round, end := x.begun, finished
		finished = func() {
			r.o.agree.ended(r, key, round, d)
			end()
		}
	}
	if x.messages == 0 {
		return true
	}
	g := &gathering{of: x, round: x.begun, left: x.messages, finished: finished}
	tag := r.tag(key)
	for k := 1; k < r.n; k++ { // each begins with another one
		from, to := (r.me+r.n-k)%r.n, (r.me+k)%r.n
		for _, rows := range x.take[from] {
			b := rowsOf(d, rows)
			f := flight{kind: taking, peer: int32(from), buf: b, whole: g, started: r.now()}
			r.track(r.comm.Irecv(transport.Data, from, tag, b), f)
		}
		for _, rows := range x.give[to] {
			b := rowsOf(d, rows)
			f := flight{kind: giving, peer: int32(to), buf: b, whole: g, started: r.now()}
			r.track(r.comm.Isend(transport.Data, to, tag, b), f)
		}
	}
	r.nudge()
	return false
}

// gatheredOne handles the end of one transfer of a gather. pollMu is held.
func (r *rank) gatheredOne(f *flight) {
	if f.id = f.whole.of.Node; f.got != nil {
		f.buf = f.buf[:*f.got]
	}
	if f.kind == giving {
		r.countSent(f, f.whole.of.Read)
		r.record(trace.Send, f)
	} else {
		r.stats.MessagesReceived++
		r.stats.BytesReceived += int64(len(f.buf))
		r.record(trace.Receive, f)
	}
	if f.whole.sparse != nil && f.kind == taking {
		f.whole.sparse.took(r, f)
	}
	if f.whole.left--; f.whole.left == 0 {
		f.whole.finished()
	}
}

// fillGathers is this rank's side of the rounds that another rank has begun and this one has not.
// pollMu and mu are held.
func (r *rank) fillGathers(peer int, d *drain) {
	for key := range r.gathers {
		g := &r.gathers[key]
		if g.ByList() {
			r.fillFetch(key, peer, d.Fetched[key])
			continue
		}
		tag := r.tag(key)
		for n := g.begun; n < d.Gathers[key]; n++ {
			if g.Type.IsSparse() {
				r.fillSparse(key, peer)
				continue
			}
			for _, rows := range g.give[peer] {
				zeros := make([]byte, g.Bytes(rows))
				r.track(r.comm.Isend(transport.Data, peer, tag, zeros), flight{kind: filler, peer: int32(peer), buf: zeros})
			}
			for _, rows := range g.take[peer] {
				p := &placed{r: r, x: &receive{bytes: g.Bytes(rows)}}
				f := flight{kind: filler, peer: int32(peer), placed: p}
				r.track(r.comm.IrecvPlaced(peer, tag, p.x.bytes, p.discard), f)
			}
		}
	}
}
