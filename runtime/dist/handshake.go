package dist

// This file compares, before anything runs, what must be the same on all ranks.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"flow/ir/op"
	"flow/runtime/dist/transport"
)

// hello is what a rank tells rank 0 of itself.
type hello struct {
	From    int
	Ranks   int // of its plan
	Items   []Item
	Process process
	Refusal string // why the rank has no plan; "" if it has one
}

// verdict is rank 0's answer to all.
type verdict struct {
	Epoch    uint64
	Mismatch string // "" if the run begins
	Peers    []process
	Wall     int64 // rank 0's clock, Unix nanoseconds
}

var errUnfinished = errors.New("transfers were still under way at the end of the run")

// TableHash identifies an operator table by what the rows claim; kernels have no hash, so the version of the
// program belongs into the fingerprint as well.
func TableHash(t *op.Table) [32]byte {
	h := sha256.New()
	for _, d := range t.Rows() {
		fmt.Fprintf(h, "%s %s %v %d %v %v %d %v %q\n", d.Name, d.Source(), d.Laws, d.Accum, d.Alias, d.Lower, d.Shard.Kind, d.Flow, d.Narrow)
	}
	return [32]byte(h.Sum(nil))
}

// handshake exchanges hellos. It waits for ranks that are late as long as ctx allows.
func (r *rank) handshake(ctx context.Context) *Failure {
	return r.greet(ctx, hello{From: r.me, Ranks: r.p.Ranks, Process: thisProcess(),
		Items: append(append([]Item(nil), r.o.Fingerprint...), Item{"plan", r.p.Hash()})})
}

// Refuse is what a rank calls instead of Run when it has nothing to run, because its program has mistakes: the other ranks
// would wait for it for ever, and learn why instead. It blocks until all ranks have called it or Run. nil means that all of them
// know, and that comm can be closed; after a *Failure the job is to be aborted.
func Refuse(ctx context.Context, comm transport.Comm, why string) error {
	r := newRank(comm, nil, Options{})
	if why == "" {
		why = "it has no program"
	}
	f := r.greet(ctx, hello{From: r.me, Process: thisProcess(), Refusal: why})
	if f == nil || f.Code == "E701" && f.Clean {
		return nil
	}
	return f
}

// greet exchanges mine for the verdict.
func (r *rank) greet(ctx context.Context, mine hello) *Failure {
	var v *verdict
	var f *Failure
	if r.me == 0 {
		v, f = r.judge(ctx, mine)
	} else {
		r.say(0, &message{Hello: &mine})
		v, f = r.awaitVerdict(ctx)
	}
	if f != nil {
		return f
	}
	r.epoch, r.peers = v.Epoch, v.Peers
	if r.peers[0].Host != r.peers[r.me].Host {
		// Wrong by the time that the verdict was under way, up to a millisecond: enough to lay traces beside each other.
		r.offset = v.Wall - time.Now().UnixNano()
	}
	if v.Mismatch != "" {
		return &Failure{Code: "E701", Err: &MismatchError{v.Mismatch}, Clean: r.settle()}
	}
	return nil
}

// judge is rank 0's part: it hears all and answers all.
func (r *rank) judge(ctx context.Context, mine hello) (*verdict, *Failure) {
	all := make([]*hello, r.n)
	all[0] = &mine
	for heard := 1; heard < r.n; {
		m, f := r.hearing(ctx)
		if f != nil {
			return nil, f
		}
		if h := m.Hello; h != nil && all[h.From] == nil {
			all[h.From] = h
			heard++
		}
	}
	// Later than any epoch before on this Comm, by the clock of one machine.
	v := &verdict{Epoch: uint64(time.Now().UnixNano()), Mismatch: compare(all)}
	for _, h := range all {
		v.Peers = append(v.Peers, h.Process)
	}
	v.Wall = time.Now().UnixNano()
	r.others(func(to int) { r.say(to, &message{Verdict: v}) })
	return v, nil
}

// awaitVerdict is everybody else's. Ranks that know already may speak before rank 0's answer arrives here.
func (r *rank) awaitVerdict(ctx context.Context) (*verdict, *Failure) {
	for {
		m, f := r.hearing(ctx)
		if f != nil {
			return nil, f
		}
		if m.Verdict != nil {
			return m.Verdict, nil
		}
	}
}

// hearing waits for the next control message of the handshake; what belongs to the run is kept for it.
func (r *rank) hearing(ctx context.Context) (*message, *Failure) {
	var pause transport.Backoff
	for i := 1; ; i++ {
		m, ok, err := r.comm.TryRecv(transport.Control)
		if err == nil && ok {
			if m.Tag == tagMessage {
				c, err := decode(m.Payload)
				if err != nil {
					return nil, &Failure{Code: "E705", Err: err}
				}
				if c.Hello != nil || c.Verdict != nil {
					return c, nil
				}
			}
			r.early = append(r.early, m)
			continue
		}
		if err == nil {
			r.pollMu.Lock()
			r.adopt()
			r.test(0, len(r.reqs))
			err = r.bad
			r.pollMu.Unlock()
		}
		if err != nil {
			return nil, failureOfTransport(err).public()
		}
		if dead := r.comm.Dead(); len(dead) > 0 {
			return nil, (&failure{Severity: rankDied, Rank: dead[0]}).public()
		}
		if i%16 == 0 && ctx.Err() != nil {
			return nil, &Failure{Err: &InterruptError{Rank: r.me, Cause: context.Cause(ctx)}}
		}
		pause.Pause()
	}
}

// compare says what differs from rank 0, "" if nothing. The first item that differs anywhere is named, with all ranks
// that have another one.
func compare(all []*hello) string {
	for _, h := range all {
		if h.Refusal != "" {
			return fmt.Sprintf("rank %d cannot run its program: %s", h.From, h.Refusal)
		}
	}
	first := all[0]
	who := func(differs func(h *hello) bool) string {
		var ranks []string
		for _, h := range all[1:] {
			if differs(h) {
				ranks = append(ranks, fmt.Sprint(h.From))
			}
		}
		switch len(ranks) {
		case 0:
			return ""
		case 1:
			return "rank " + ranks[0] + " has"
		}
		return "ranks " + strings.Join(ranks, ", ") + " have"
	}
	for i, item := range first.Items {
		differs := func(h *hello) bool { return i >= len(h.Items) || h.Items[i] != item }
		if s := who(differs); s != "" {
			return s + " another " + item.Name
		}
	}
	if s := who(func(h *hello) bool { return len(h.Items) != len(first.Items) }); s != "" {
		return s + " another version of the program"
	}
	if first.Ranks != len(all) {
		return fmt.Sprintf("the plan is for %d ranks, the job has %d", first.Ranks, len(all))
	}
	return ""
}
