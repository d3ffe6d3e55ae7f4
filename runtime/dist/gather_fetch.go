package dist

// This file moves rows that only the run knows: the messages of a gather with lists (plan.Fetch).
//
// Two ranks know the sizes of both messages between them, from their lists. In a round in which one
// of the two messages has rows both are sent, so a rank is at most one such round ahead of the other
// one. After a failure it reports the number of these rounds and the sizes of the last one, and the
// other one fills it.

import (
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// fetch is local.Remote.Fetch. A worker calls it.
func (r *rank) fetch(key int, x *local.Parts, finished func()) {
	if r.startFetch(key, x, finished) {
		finished()
	}
}

// startFetch starts the transfers of a round. It reports whether there are none.
func (r *rank) startFetch(key int, parts *local.Parts, finished func()) (none bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return false // the run ends
	}
	x := &r.gathers[key]
	x.begun++
	g := &gathering{of: x, round: x.begun, finished: finished}
	tag := r.tag(key)
	give, take := parts.Give, parts.Take
	some := func(peer int) bool { return len(give[peer])+len(take[peer]) > 0 }
	for k := 1; k < r.n; k++ { // each begins with another one
		if from := (r.me + r.n - k) % r.n; some(from) {
			f := flight{kind: taking, peer: int32(from), buf: take[from], whole: g, started: r.now()}
			if parts.TakeSome[from] {
				f.got = &parts.Got[from]
				r.track(r.comm.IrecvSome(from, tag, f.buf, f.got), f)
			} else {
				r.track(r.comm.Irecv(transport.Data, from, tag, f.buf), f)
			}
			g.left++
		}
		if to := (r.me + k) % r.n; some(to) {
			f := flight{kind: giving, peer: int32(to), buf: give[to], whole: g, started: r.now()}
			r.track(r.send(to, tag, f.buf, parts.GiveSome[to]), f)
			g.left++
			x.fetched[to] = fetched{x.fetched[to].Rounds + 1, len(give[to]), len(take[to]), parts.GiveSome[to], parts.TakeSome[to]}
		}
	}
	r.nudge()
	return g.left == 0
}

// send starts to send b. some: the receiver does not know its length.
func (r *rank) send(to, tag int, b []byte, some bool) transport.Request {
	if some {
		return r.comm.IsendSome(to, tag, b)
	}
	return r.comm.Isend(transport.Data, to, tag, b)
}

// fillFetch is this rank's side of the round of a gather with lists that another rank has begun and
// this one has not. pollMu and mu are held.
func (r *rank) fillFetch(key, peer int, d fetched) {
	if d.Rounds <= r.gathers[key].fetched[peer].Rounds {
		return
	}
	zeros := make([]byte, d.Take)
	r.track(r.send(peer, r.tag(key), zeros, d.TakeSome), flight{kind: filler, peer: int32(peer), buf: zeros})
	if d.GiveSome {
		f := flight{kind: filler, peer: int32(peer), buf: make([]byte, d.Give), got: new(int)}
		r.track(r.comm.IrecvSome(peer, r.tag(key), f.buf, f.got), f)
		return
	}
	p := &placed{r: r, x: &receive{bytes: d.Give}}
	r.track(r.comm.IrecvPlaced(peer, r.tag(key), d.Give, p.discard), flight{kind: filler, peer: int32(peer), placed: p})
}
