package dist

// This file moves rows that only the run knows: the messages of a gather with lists (plan.Fetch).
//
// Two ranks know the sizes of both messages between them, from their lists. In a round in which one
// of the two messages has rows both are sent, so a rank is at most one such round ahead of the other
// one. After a failure it reports the number of these rounds and the sizes of the last one, and the
// other one fills it.

import "flow/runtime/dist/transport"

// fetched counts the rounds of a gather with lists that had messages between this rank and another
// one, and has the sizes of the last ones.
type fetched struct {
	Rounds     int32
	Give, Take int
}

// fetch is local.Remote.Fetch. A worker calls it.
func (r *rank) fetch(key int, give, take [][]byte, finished func()) {
	if r.startFetch(key, give, take, finished) {
		finished()
	}
}

// startFetch starts the transfers of a round. It reports whether there are none.
func (r *rank) startFetch(key int, give, take [][]byte, finished func()) (none bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen {
		return false // the run ends
	}
	x := &r.gathers[key]
	x.begun++
	g := &gathering{of: x, round: x.begun, finished: finished}
	tag := r.tag(key)
	some := func(peer int) bool { return len(give[peer])+len(take[peer]) > 0 }
	for k := 1; k < r.n; k++ { // each begins with another one
		if from := (r.me + r.n - k) % r.n; some(from) {
			f := flight{kind: taking, peer: int32(from), buf: take[from], whole: g, started: r.now()}
			r.track(r.comm.Irecv(transport.Data, from, tag, f.buf), f)
			g.left++
		}
		if to := (r.me + k) % r.n; some(to) {
			f := flight{kind: giving, peer: int32(to), buf: give[to], whole: g, started: r.now()}
			r.track(r.comm.Isend(transport.Data, to, tag, f.buf), f)
			g.left++
			x.fetched[to] = fetched{x.fetched[to].Rounds + 1, len(give[to]), len(take[to])}
		}
	}
	r.nudge()
	return g.left == 0
}

// fillFetch is this rank's side of the round of a gather with lists that another rank has begun and
// this one has not. pollMu and mu are held.
func (r *rank) fillFetch(key, peer int, d fetched) {
	if d.Rounds <= r.gathers[key].fetched[peer].Rounds {
		return
	}
	zeros := make([]byte, d.Take)
	r.track(r.comm.Isend(transport.Data, peer, r.tag(key), zeros), flight{kind: filler, peer: int32(peer), buf: zeros})
	p := &placed{r: r, x: &receive{bytes: d.Give}}
	r.track(r.comm.IrecvPlaced(peer, r.tag(key), d.Give, p.discard), flight{kind: filler, peer: int32(peer), placed: p})
}
