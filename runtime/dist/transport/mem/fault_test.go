package mem

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"flow/runtime/dist/transport"
)

// stopClock makes the time of deaths and delays the test's: it passes when the test calls pass.
func stopClock(t *testing.T) (pass func(time.Duration)) {
	start := time.Now()
	var passed atomic.Int64
	now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	t.Cleanup(func() { now = time.Now })
	return func(d time.Duration) { passed.Add(int64(d)) }
}

// limited ends what hangs.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestDeath kills a rank with transfers under way in every state, and checks that
// they fail after the notice, and not before, with the dead rank's name.
func TestDeath(t *testing.T) {
	const notice = 30 * time.Millisecond
	pass := stopClock(t)
	g := NewGroup(3, Options{EagerLimit: 16, Faults: Faults{Notice: notice}})
	ctx := limited(t)
	dead, peer := g.Comm(1), g.Comm(0)
	last := make([]byte, 8)
	early := dead.Isend(transport.Data, 0, 1, []byte("lastword")) // buffered: can still be received
	own := []transport.Request{
		early,
		dead.Isend(transport.Data, 0, 2, make([]byte, 100)), // not buffered: lost with its rank
		dead.Irecv(transport.Data, 0, 3, make([]byte, 8)),
	}
	waiting := []transport.Request{
		peer.Irecv(transport.Data, 1, 9, make([]byte, 8)),
		peer.Isend(transport.Data, 1, 4, make([]byte, 100)),
	}
	g.Kill(1)
	waiting = append(waiting,
		peer.Irecv(transport.Data, 1, 2, make([]byte, 100)),
		peer.Isend(transport.Data, 1, 3, make([]byte, 8)))
	if len(peer.Dead()) != 0 {
		t.Error("the death is known before the notice")
	}
	if err := transport.WaitAll(ctx, peer, []transport.Request{peer.Irecv(transport.Data, 1, 1, last)}); err != nil || string(last) != "lastword" {
		t.Errorf("what was sent before the death: %q, %v", last, err)
	}
	pass(notice - 1)
	if done, err := peer.Testsome(waiting, nil); len(done) != 0 || err != nil || len(peer.Dead()) != 0 {
		t.Errorf("before the notice %v have ended, %v; dead are %v", done, err, peer.Dead())
	}
	pass(1)
	f := transport.Failures(transport.WaitAll(ctx, peer, waiting))
	if len(f) != 4 {
		t.Errorf("%d failures after the notice, want 4", len(f))
	}
	for _, e := range f {
		var d *transport.DeadError
		if !errors.As(e, &d) || d.Rank != 1 || e.Peer != 1 || !strings.Contains(e.Error(), "rank 1 is dead") {
			t.Errorf("a transfer with the dead rank gives %q", e)
		}
	}
	if !slices.Equal(peer.Dead(), []int{1}) {
		t.Errorf("Dead is %v, want [1]", peer.Dead())
	}
	if f := transport.Failures(transport.WaitAll(ctx, dead, own)); len(f) != 2 {
		t.Errorf("the dead rank sees %v, want 2 failures", f)
	}
	if err := peer.Barrier(ctx); !errors.As(err, new(*transport.DeadError)) {
		t.Errorf("a barrier with a dead rank gives %v", err)
	}
	// The living go on.
	in := make([]byte, 8)
	third := g.Comm(2)
	others := []transport.Request{
		third.Irecv(transport.Data, 0, 0, in), peer.Isend(transport.Data, 2, 0, make([]byte, 8)),
	}
	if err := errors.Join(
		transport.WaitAll(ctx, peer, others[1:]), transport.WaitAll(ctx, third, others[:1]),
	); err != nil {
		t.Errorf("a transfer of others: %v", err)
	}
}

// TestDeathAfterSends kills a rank in place of its third send.
func TestDeathAfterSends(t *testing.T) {
	c := New(2, Options{Faults: Faults{Deaths: []Death{{Rank: 0, AfterSends: 2}}}})
	for i := range 4 {
		r := c[0].Isend(transport.Data, 1, i, nil)
		err := transport.WaitAll(limited(t), c[0], []transport.Request{r})
		if died := errors.As(err, new(*transport.DeadError)); died != (i >= 2) {
			t.Errorf("send %d: %v", i, err)
		}
	}
	if err := transport.WaitAll(limited(t), c[1], []transport.Request{c[1].Irecv(transport.Data, 0, 1, nil)}); err != nil {
		t.Errorf("a message from before the death: %v", err)
	}
	if err := transport.WaitAll(limited(t), c[1], []transport.Request{c[1].Irecv(transport.Data, 0, 2, nil)}); err == nil {
		t.Error("a message from after the death has come")
	}
}

// TestLoss checks that a lost message fails the receive that it belongs to, that
// the others come, and that the seed alone decides.
func TestLoss(t *testing.T) {
	pattern := func(seed uint64) (lost []int) {
		c := New(2, Options{Faults: Faults{Seed: seed, Loss: 0.3}})
		for i := range 60 {
			b := make([]byte, 1)
			s := c[0].Isend(transport.Data, 1, i%3, []byte{byte(i)})
			err := transport.WaitAll(limited(t), c[1], []transport.Request{c[1].Irecv(transport.Data, 0, i%3, b)})
			switch {
			case errors.Is(err, transport.ErrLost):
				lost = append(lost, i)
			case err != nil || b[0] != byte(i):
				t.Fatalf("message %d: %d, %v", i, b[0], err)
			}
			if err := transport.WaitAll(limited(t), c[0], []transport.Request{s}); err != nil {
				t.Fatalf("send %d: %v", i, err)
			}
		}
		return lost
	}
	first := pattern(5)
	if len(first) < 5 || len(first) > 35 {
		t.Errorf("%d of 60 lost with probability 0.3", len(first))
	}
	if again := pattern(5); !slices.Equal(first, again) {
		t.Errorf("the same seed loses %v, then %v", first, again)
	}
	if other := pattern(6); slices.Equal(first, other) {
		t.Errorf("another seed loses the same: %v", other)
	}
}

// TestReorder checks that delay lets tags overtake each other, since a suite that
// only ever sees one order proves little.
func TestReorder(t *testing.T) {
	pass := stopClock(t)
	c := New(2, Options{Faults: Faults{Seed: 3, MaxDelay: 3 * time.Millisecond}})
	const count = 30
	var reqs []transport.Request
	for i := range count {
		reqs = append(reqs, c[0].Isend(transport.Control, 1, i, nil))
	}
	var order []int
	for step := 0; len(order) < count && step < 1000; {
		m, ok, err := c[1].TryRecv(transport.Control)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			order = append(order, m.Tag)
			continue
		}
		pass(10 * time.Microsecond)
		step++
	}
	if len(order) != count || slices.IsSorted(order) {
		t.Errorf("the tags came as %v", order)
	}
	if err := transport.WaitAll(limited(t), c[0], reqs); err != nil {
		t.Error(err)
	}
}

// TestAbort checks that an abort ends what all ranks wait for.
func TestAbort(t *testing.T) {
	c := New(3, Options{})
	barrier := make(chan error)
	go func() { barrier <- c[2].Barrier(limited(t)) }()
	r := c[1].Irecv(transport.Data, 2, 0, make([]byte, 1))
	c[0].Abort(3)
	if err := transport.WaitAll(limited(t), c[1], []transport.Request{r}); !errors.Is(err, transport.ErrAborted) {
		t.Errorf("a pending receive gives %v", err)
	}
	if err := <-barrier; !errors.Is(err, transport.ErrAborted) {
		t.Errorf("a barrier gives %v", err)
	}
	if _, _, err := c[2].TryRecv(transport.Control); !errors.Is(err, transport.ErrAborted) {
		t.Errorf("TryRecv gives %v", err)
	}
}

// TestWaitAllEnds checks that a context ends a wait, and that the request lives on.
func TestWaitAllEnds(t *testing.T) {
	c := New(2, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	in := make([]byte, 3)
	reqs := []transport.Request{c[0].Irecv(transport.Data, 1, 0, in)}
	if err := transport.WaitAll(ctx, c[0], reqs); !errors.Is(err, context.DeadlineExceeded) || reqs[0] == transport.None {
		t.Fatalf("the wait ended with %v, the request is %v", err, reqs[0])
	}
	if err := c[0].Barrier(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the barrier ended with %v", err)
	}
	if err := c[0].Close(); err == nil {
		t.Error("Close accepts a request in progress")
	}
}
