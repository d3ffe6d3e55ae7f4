package dist

// This file starts messages: values in the worker that made them, and control messages.

import (
	"flow/ir"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// produced starts the messages that carry value id. Workers call it, and the poller for received
// values.
func (r *rank) produced(id ir.ID, v value.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.routes.of(id) {
		r.start(s, id, v)
	}
	r.nudge()
}

// start starts one message, or holds it. mu is held.
func (r *rank) start(s send, id ir.ID, v value.Value) {
	if r.frozen {
		return
	}
	f := flight{kind: sending, peer: s.dst, num: s.num, id: s.exchange, source: id}
	switch form, _ := formOf(r.p.Graph.Type(s.exchange)); form {
	case variable:
		if m, ok := v.(*value.CSR); ok && ownRows(r.p, s.exchange) {
			lo, hi := plan.SentRows(r.p.Graph.Nodes[s.exchange].Attrs, int(s.dst), r.n, m.Rows)
			v = m.View(lo, hi-lo)
		}
		b, err := putValue(r.epoch, s.exchange, v)
		if err != nil {
			r.eng.Fail(&local.TaskFailure{Node: s.exchange, Rank: r.me, Err: err})
			return
		}
		f.kind, f.buf = sendingCopy, b
	case fixed:
		f.kind, f.buf = sendingCopy, putScalar(v.(value.Scalar))
	case inPlace:
		f.dense = v.(*value.Dense)
		f.buf = f.dense.Bytes()
		if ownRows(r.p, s.exchange) {
			at, n := partOf(r.p, s.exchange, int(s.dst))
			f.buf = f.buf[at : at+n]
		}
	}
	if s.num >= r.window && !r.hasBegun(s.dst, s.num-r.window) {
		r.held[heldKey{s.dst, s.num}] = f
		return
	}
	r.launch(f)
}

// launch starts f, and what was held for it: messages of one tag must start in the order of their
// numbers. mu is held.
func (r *rank) launch(f flight) {
	for {
		f.started = r.now()
		if f.num < 0 {
			r.track(r.comm.Isend(transport.Control, int(f.peer), tagValue, f.buf), f)
			return
		}
		r.begun[f.peer][f.num/64] |= 1 << (f.num % 64)
		r.track(r.comm.Isend(transport.Data, int(f.peer), int(f.num%r.window), f.buf), f)
		if len(r.held) == 0 {
			return
		}
		next, ok := r.held[heldKey{f.peer, f.num + r.window}]
		if !ok {
			return
		}
		delete(r.held, heldKey{f.peer, f.num + r.window})
		f = next
	}
}

// track hands a request to the poller. mu is held.
func (r *rank) track(q transport.Request, f flight) {
	f.req = q
	r.fresh = append(r.fresh, f)
	r.newFresh.Store(int32(len(r.fresh)))
}

func (r *rank) hasBegun(dst, num int32) bool { return r.begun[dst][num/64]&(1<<(num%64)) != 0 }

// cleared tells a rank that this rank's tasks have succeeded that its node shown waits for. Workers
// call it.
func (r *rank) cleared(shown ir.ID, to int) {
	r.signal(to, tagClear, putClear(r.epoch, shown), true)
}

// signal starts a control message that no rank waits for after the freeze. It sends nothing then. If
// no rank waits for the message at all, it sends nothing after this rank's tasks have ended, either:
// such a message could start after this rank has reported its end (done), and the other rank may be
// gone.
func (r *rank) signal(to, tag int, b []byte, waited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.frozen && (waited || !r.mute) {
		r.track(r.comm.Isend(transport.Control, to, tag, b), flight{kind: control, peer: int32(to), buf: b})
		r.nudge()
	}
}

// say sends a control message to one rank.
func (r *rank) say(to int, m *message) {
	m.Epoch = r.epoch
	b, err := encode(m)
	if err != nil {
		panic("BUG: a control message cannot be encoded: " + err.Error()) // our own types
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := control
	if m.beat != nil {
		kind = heartbeat
	}
	r.track(r.comm.Isend(transport.Control, to, tagMessage, b), flight{kind: kind, peer: int32(to), buf: b})
}
