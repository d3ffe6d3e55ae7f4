package dist

import (
	"flow/ir/op"
	"flow/ir/value"
	"flow/runtime/local"
)

// This file finds the memory of large matrices on their arrival.

// place finds the memory, within the budget except for what the next task needs. The poller calls
// it, inside Testsome.
func (p *placed) place() []byte {
	r, x := p.r, p.x
	if r.ending.frozen.Load() {
		return p.discard()
	}
	used := r.used.Load()
	if used > 0 && used+int64(x.memory) > r.o.Budget && x.pos > r.eng.FirstUnfinished() {
		return nil
	}
	t := r.p.Graph.Type(x.exchange)
	b, err := r.eng.Buffers().GetPart(x.memory, x.bytes)
	switch {
	case err == nil:
		p.dense = value.Over(b, t.Elem, t.Rows, t.Cols)
	case x.pos > r.eng.FirstUnfinished():
		return nil // memory will come back
	default:
		if r.starved == nil {
			r.starved = &local.TaskFailure{Node: x.exchange, Rank: r.me, Err: op.NoMemory(err)}
		}
		// A sent message must be received, or the other ranks would wait: on the heap, if
		// possible.
		p.dense = value.Over(make([]byte, x.memory), t.Elem, t.Rows, t.Cols)
		p.dense.Buf = nil
	}
	r.used.Add(int64(x.memory))
	if x.bytes >= bulkFrom {
		r.underWay.Add(int64(x.bytes))
	}
	return x.in(p.dense.Bytes())
}

// discard receives messages that no task will read, one after the other into the same memory:
// hundreds of tiles in fresh memory took longer than a run has to end.
func (p *placed) discard() []byte {
	r := p.r
	if r.wasting {
		return nil
	}
	if r.waste == nil || len(r.waste) < p.x.bytes {
		r.waste = make([]byte, p.x.bytes)
	}
	r.wasting, p.wasted = true, true
	return r.waste[:p.x.bytes]
}
