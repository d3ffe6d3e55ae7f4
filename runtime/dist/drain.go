package dist

// This file finishes all requests under way after a failure that leaves all ranks alive: see Note
// [Ending together].

import (
	"context"
	"time"

	"flow/ir"
	"flow/runtime/dist/transport"
)

// windDown is the part of step after a failure that leaves all ranks alive.
func (r *rank) windDown(now time.Time) {
	e := &r.ending
	if !e.frozen.Load() {
		late := now.Sub(e.since) > r.o.Grace+50*time.Millisecond
		if late && !e.idle {
			r.eng.Cancel(context.DeadlineExceeded)
		}
		if late || e.failure.Severity == interrupted || e.idle && !r.needed(now) {
			r.freeze()
		}
		return
	}
	if !e.filled {
		for from, d := range e.drains {
			if d == nil && from != r.me {
				return
			}
		}
		r.fill()
		e.filled = true
	}
	// A rank that still runs a kernel has nothing to report yet, and may never stop.
	if e.reported != drained && r.quiet() && (e.idle || now.Sub(e.since) > r.o.patience/3) {
		r.reportDone(drained)
	}
}

// needed reports whether a value is still awaited that some task before the failed one reads: this
// rank may have to pass it on though its own tasks are done. It checks once a millisecond, since it
// goes through all receives.
func (r *rank) needed(now time.Time) bool {
	e := &r.ending
	if e.failure.Severity != taskFailed {
		return false
	}
	if now.Sub(e.last) < time.Millisecond {
		return true
	}
	e.last = now
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	for i := range r.routes.receives {
		if !r.arrived[i] && r.routes.receives[i].pos <= ir.ID(e.failure.Node) {
			return true
		}
	}
	return false
}

// freeze stops the flow of values and reports its state to the others.
func (r *rank) freeze() {
	r.pollMu.Lock()
	r.mu.Lock()
	r.frozen = true
	r.ending.frozen.Store(true)
	clear(r.held)
	drains := make([]*drain, r.n)
	for to := range drains {
		drains[to] = &drain{From: r.me, Posted: r.posted[to], Started: ranges(r.begun[to], r.routes.toCount[to])}
		for k := range r.gathers {
			drains[to].Gathers = append(drains[to].Gathers, r.gathers[k].begun)
			drains[to].Fetched = append(drains[to].Fetched, r.gathers[k].fetched[to])
		}
	}
	r.mu.Unlock()
	r.pollMu.Unlock()
	r.others(func(to int) { r.say(to, &message{Drain: drains[to]}) })
}

// ranges lists the runs of ones among the first n bits.
func ranges(bits []uint64, n int32) (out [][2]int32) {
	for i := int32(0); i < n; i++ {
		if bits[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k][1] == i {
			out[k][1]++
		} else {
			out = append(out, [2]int32{i, i + 1})
		}
	}
	return out
}

// fill sends a message for every receive that another rank has posted, and posts a receive for
// every message that another rank has started, so that all requests finish. Within each tag the
// numbers ascend.
func (r *rank) fill() {
	r.pollMu.Lock()
	defer r.pollMu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	to, from := r.sizes()
	var zeros []byte
	for peer, d := range r.ending.drains {
		if d == nil {
			continue
		}
		r.fillGathers(peer, d)
		for num := int32(0); num < d.Posted; num++ {
			if r.hasBegun(int32(peer), num) {
				continue
			}
			size := to[peer][num]
			if size > len(zeros) {
				zeros = make([]byte, size)
			}
			r.track(r.comm.Isend(transport.Data, peer, int(num%r.window), zeros[:size]), flight{kind: filler, buf: zeros})
		}
		for _, s := range d.Started {
			for num := max(s[0], r.posted[peer]); num < s[1]; num++ {
				p := &placed{r: r, x: &receive{bytes: from[peer][num]}}
				r.track(r.comm.IrecvPlaced(peer, int(num%r.window), p.x.bytes, p.discard), flight{kind: filler, placed: p})
			}
		}
	}
}

// sizes returns the length of each message on Data, by rank and number.
func (r *rank) sizes() (to, from [][]int) {
	to, from = make([][]int, r.n), make([][]int, r.n)
	for i := range to {
		to[i] = make([]int, r.routes.toCount[i])
	}
	for _, s := range r.routes.sends {
		if s.num >= 0 {
			f, size := formOf(r.p.Graph.Type(s.exchange))
			if f == inPlace && ownRows(r.p, s.exchange) {
				_, size = partOf(r.p, s.exchange, int(s.dst))
			}
			to[s.dst][s.num] = size
		}
	}
	for _, x := range r.routes.receives {
		if x.num >= 0 { // in the order of numbers
			from[x.src] = append(from[x.src], x.bytes)
		}
	}
	return to, from
}
