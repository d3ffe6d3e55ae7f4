package dist

// This file compares what must be equal on all ranks before anything runs.

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

var errUnfinished = errors.New("transfers were still under way at the end of the run")

// TableHash identifies an operator table by the claims of its rows. Kernels have no hash, so the
// fingerprint must include the version of the program.
func TableHash(t *op.Table) [32]byte {
	return t.Memo(tableHash{}, func() any {
		h := sha256.New()
		for _, d := range t.Rows() {
			fmt.Fprintf(h, "%s %s %v %d %v %v %d %q %d\n", d.Name, d.Source(), d.Laws, d.Accum, d.Alias, d.Lower, d.Shard.Kind, d.Narrow, d.Partial)
		}
		return [32]byte(h.Sum(nil))
	}).([32]byte)
}

// tableHash is the key of the hash among what a table keeps.
type tableHash struct{}

// Introduction describes a rank before there is a plan that all can run.
type Introduction struct {
	// Items must be equal on every rank, in the same order.
	Items []Item
	// Inputs are the files that the program reads.
	Inputs []Input
	// Refusal says why this rank cannot run its program, or is "".
	Refusal string
	// Notice is as in Options.
	Notice func(text string)
}

// Agree compares what the ranks run and read. It blocks until all ranks have called it or Run.
// unshared lists the inputs that are equal as far as compared, but not one file on all ranks: all
// then call Run with plans in which only rank 0 reads those. The error is a *Failure: a
// *MismatchError, which names the difference, or why a rank cannot run its program. After one that
// is not Clean the job must be aborted.
func Agree(ctx context.Context, comm transport.Comm, mine Introduction) (unshared []string, err error) {
	r := newRank(comm, nil, Options{Notice: mine.Notice})
	v, f := r.greet(ctx, hello{From: r.me, Process: thisProcess(), Build: Build(), Items: mine.Items, Inputs: mine.Inputs, Refusal: mine.Refusal})
	if f != nil {
		if !f.Clean && f.Speaker != r.me {
			time.Sleep(sayFirst)
		}
		return nil, f
	}
	return v.Unshared, nil
}

// handshake exchanges hellos. It waits for late ranks as long as ctx allows. After a failure there is
// no engine any more.
func (r *rank) handshake(ctx context.Context) *Failure {
	_, f := r.greet(ctx, hello{From: r.me, Ranks: r.p.Ranks, Process: thisProcess(), Build: Build(),
		Items: append(append([]Item(nil), r.o.Fingerprint...), Item{Name: "plan", Hash: r.p.Hash()})})
	if f != nil && r.eng != nil {
		_ = r.eng.Close() // nothing has run
	}
	return f
}

// Refuse is called instead of Run by a rank that has nothing to run, so that the other ranks learn
// why instead of waiting. It blocks until all ranks have called it or Run. nil means that all of
// them know, and that comm can be closed; after a *Failure the job must be aborted.
func Refuse(ctx context.Context, comm transport.Comm, why string) error {
	if why == "" {
		why = "it has no program"
	}
	_, err := Agree(ctx, comm, Introduction{Refusal: why})
	var f *Failure
	if errors.As(err, &f) && f.Code == "E701" && f.Clean {
		return nil
	}
	return err
}

// greet sends mine and returns the verdict.
func (r *rank) greet(ctx context.Context, mine hello) (*verdict, *Failure) {
	var v *verdict
	var f *Failure
	if r.me == 0 {
		v, f = r.judge(ctx, mine)
	} else {
		r.say(0, &message{Hello: &mine})
		v, f = r.awaitVerdict(ctx)
	}
	if f != nil {
		return nil, f
	}
	r.epoch, r.peers = v.Epoch, v.Peers
	if r.peers[0].Host != r.peers[r.me].Host {
		// It is off by the time of the verdict's message, up to a millisecond: enough to
		// align traces.
		r.offset = v.Wall - time.Now().UnixNano()
	}
	if v.Mismatch != "" {
		return nil, &Failure{Code: "E701", Err: &MismatchError{v.Mismatch, v.Files}, Clean: r.settle()}
	}
	// nothing of this run follows, and the next begins with another epoch
	if mine.Ranks == 0 && !r.settle() {
		return nil, r.unsettled()
	}
	return v, nil
}

// unsettled returns why transfers cannot end: the death of a rank, if one is known.
func (r *rank) unsettled() *Failure {
	if i := firstGone(r.peers, r.me); i >= 0 {
		f := &failure{Severity: rankDied, Rank: i}
		r.describe(f)
		return f.public()
	}
	return &Failure{Code: "E705", Err: errUnfinished}
}

// judge is rank 0's part: it collects all hellos and answers.
func (r *rank) judge(ctx context.Context, mine hello) (*verdict, *Failure) {
	all := make([]*hello, r.n)
	all[0] = &mine
	for heard := 1; heard < r.n; {
		m, f := r.hearing(ctx, func() (late []int) {
			for i, h := range all {
				if h == nil {
					late = append(late, i)
				}
			}
			return late
		})
		if f != nil {
			return nil, f
		}
		if h := m.Hello; h != nil && all[h.From] == nil {
			all[h.From] = h
			heard++
		}
	}
	// Later than any earlier epoch on this Comm, by the clock of one machine.
	v := &verdict{Epoch: uint64(time.Now().UnixNano())}
	v.compare(all)
	for _, h := range all {
		v.Peers = append(v.Peers, h.Process)
	}
	v.Wall = time.Now().UnixNano()
	r.others(func(to int) { r.say(to, &message{Verdict: v}) })
	return v, nil
}

// awaitVerdict is the part of the other ranks. Ranks that know already may send messages before
// rank 0's answer arrives here.
func (r *rank) awaitVerdict(ctx context.Context) (*verdict, *Failure) {
	for {
		m, f := r.hearing(ctx, nil)
		if f != nil {
			return nil, f
		}
		if m.Verdict != nil {
			return m.Verdict, nil
		}
	}
}

// hearing waits for the next control message of the handshake, and keeps messages of the run for
// later.
//
// late lists the awaited ranks, which are mentioned after ten seconds; nil: none is mentioned.
func (r *rank) hearing(ctx context.Context, late func() []int) (*message, *Failure) {
	var pause transport.Backoff
	wait := lateness{last: time.Now()}
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
		if late != nil {
			wait.look(r, late)
		}
		pause.Pause()
	}
}

// compare decides: builds first, because the messages of another build may mean something else;
// then files, because they may be why a rank cannot run its program; then everything else.
func (v *verdict) compare(all []*hello) {
	if v.Mismatch = compareItems(all, func(h *hello) []Item { return []Item{h.Build} }); v.Mismatch != "" {
		return
	}
	if v.Mismatch, v.Unshared = compareInputs(all); v.Mismatch != "" {
		v.Files = true
		return
	}
	for _, h := range all {
		if h.Refusal != "" {
			v.Mismatch = fmt.Sprintf("rank %d cannot run its program: %s", h.From, h.Refusal)
			return
		}
	}
	if v.Mismatch = compareItems(all, func(h *hello) []Item { return h.Items }); v.Mismatch == "" && all[0].Ranks > 0 && all[0].Ranks != len(all) {
		v.Mismatch = fmt.Sprintf("the plan is for %d ranks, the job has %d", all[0].Ranks, len(all))
	}
}

// compareItems returns what differs from rank 0, or "". It names the first differing item with all
// ranks that differ.
func compareItems(all []*hello, of func(h *hello) []Item) string {
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
	for i, item := range of(first) {
		theirs := ""
		differs := func(h *hello) bool {
			own := of(h)
			switch {
			case i >= len(own):
				return true
			case own[i].Name == item.Name && own[i].Hash == item.Hash:
				return false
			case theirs == "":
				theirs = own[i].Text
			}
			return true
		}
		s := who(differs)
		switch {
		case s == "":
			continue
		case item.Text != "" && theirs != "":
			return fmt.Sprintf("%s another %s than rank 0: %s, not %s", s, item.Name, theirs, item.Text)
		}
		return s + " another " + item.Name
	}
	if s := who(func(h *hello) bool { return len(of(h)) != len(of(first)) }); s != "" {
		return s + " another version of the program"
	}
	return ""
}
