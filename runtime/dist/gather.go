package dist

// This file runs gathers: each rank has made its own rows of a matrix (plan.Window), and all need
// all of them.
//
// Every rank runs every gather, in the same order where one comes after another, and each has a tag
// of its own. So the messages of one gather between two ranks match in the order of its rounds, and
// those of different ones, which may run at once, never meet. Nothing is numbered and nothing is
// posted ahead: what a rank sends before another one asks for it waits in the transport.

import (
	"fmt"

	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/trace"
)

// gathers is one gather of the plan, all its rounds.
type gathers struct {
	t     types.Type
	begun int32 // rounds that this rank has begun: with each other rank a send and a receive
}

// gathering is one round of a gather.
type gathering struct {
	left     int // transfers under way; pollMu
	finished func()
}

// prepareGathers gives each gather its tag: the last ones.
func (r *rank) prepareGathers() error {
	for _, t := range r.p.Gathers() {
		r.gathers = append(r.gathers, gathers{t: t})
	}
	tags := min(r.comm.MaxTag(), 1<<30) + 1
	if len(r.gathers) >= tags {
		return fmt.Errorf("BUG: %d gathers of a plan and %d tags", len(r.gathers), tags)
	}
	r.window = int32(tags - len(r.gathers))
	return nil
}

// rows returns the bytes of the rows of d that a rank makes. d is contiguous.
func (r *rank) rows(d *value.Dense, of int) []byte {
	lo, hi := plan.Window(of, r.n, d.Rows)
	return d.View(lo, 0, hi-lo, d.Cols).Bytes()
}

// rowBytes is how many they are.
func (r *rank) rowBytes(t types.Type, of int) int {
	lo, hi := plan.Window(of, r.n, t.Rows)
	return (hi - lo) * t.Cols * t.Elem.Size()
}

// gather is local.Remote.Gather. A worker calls it.
func (r *rank) gather(key int, d *value.Dense, finished func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return // the run ends, and Close frees d
	}
	r.gathers[key].begun++
	g := &gathering{left: 2 * (r.n - 1), finished: finished}
	tag := int(r.window) + key
	mine := r.rows(d, r.me)
	for k := 1; k < r.n; k++ { // each begins with another one
		from, to := (r.me+r.n-k)%r.n, (r.me+k)%r.n
		b := r.rows(d, from)
		r.track(r.comm.Irecv(transport.Data, from, tag, b), flight{kind: taking, peer: int32(from), buf: b, whole: g, started: r.now()})
		r.track(r.comm.Isend(transport.Data, to, tag, mine), flight{kind: giving, peer: int32(to), buf: mine, whole: g, started: r.now()})
	}
	r.nudge()
}

// gatheredOne handles the end of one transfer of a gather. pollMu is held.
func (r *rank) gatheredOne(f *flight) {
	if f.kind == giving {
		r.stats.MessagesSent++
		r.stats.BytesSent += int64(len(f.buf))
		r.record(trace.Send, f)
	} else {
		r.stats.MessagesReceived++
		r.stats.BytesReceived += int64(len(f.buf))
		r.record(trace.Receive, f)
	}
	if f.whole.left--; f.whole.left == 0 {
		f.whole.finished()
	}
}

// fillGathers makes the other side of the rounds that another rank has begun and this one has not.
// pollMu and mu are held.
func (r *rank) fillGathers(peer int, d *drain) {
	for key := range r.gathers {
		g := &r.gathers[key]
		tag := int(r.window) + key
		for n := g.begun; n < d.Gathers[key]; n++ {
			zeros := make([]byte, r.rowBytes(g.t, r.me))
			r.track(r.comm.Isend(transport.Data, peer, tag, zeros), flight{kind: filler, peer: int32(peer), buf: zeros})
			p := &placed{r: r, x: &receive{bytes: r.rowBytes(g.t, peer)}}
			r.track(r.comm.IrecvPlaced(peer, tag, p.x.bytes, p.discard), flight{kind: filler, peer: int32(peer), placed: p})
		}
	}
}
