package transporttest

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"flow/runtime/dist/transport"
)

// controlAside sends control messages of unknown sizes, on the very tags that data
// uses at the same time, and checks that neither channel sees the other's.
func controlAside(ctx context.Context, c transport.Comm) error {
	const count = 50
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := make([][]byte, count)
	var reqs []transport.Request
	for i := range count {
		in[i] = make([]byte, 20000)
		reqs = append(reqs,
			c.Isend(transport.Control, next, i, fill(make([]byte, i*3), 500+i)),
			c.Isend(transport.Data, next, i, fill(make([]byte, 20000), i)),
			c.Irecv(transport.Data, last, i, in[i]))
	}
	var pause transport.Backoff
	var done []int
	got, left := 0, len(reqs)
	for got < count || left > 0 {
		m, ok, err := c.TryRecv(transport.Control)
		if err != nil {
			return err
		}
		if ok {
			if m.Src != last || m.Tag < 0 || m.Tag >= count || len(m.Payload) != m.Tag*3 {
				return fmt.Errorf("control message from %d with tag %d has %d bytes", m.Src, m.Tag, len(m.Payload))
			}
			if err := verify(m.Payload, 500+m.Tag, "control message %d", m.Tag); err != nil {
				return err
			}
			got++
		}
		if done, err = c.Testsome(reqs, done[:0]); err != nil {
			return err
		}
		if left -= len(done); !ok && len(done) == 0 {
			pause.Pause()
			if ctx.Err() != nil {
				return fmt.Errorf("%d of %d control messages, %d requests left", got, count, left)
			}
		}
	}
	for i := range in {
		if err := verify(in[i], i, "data message %d", i); err != nil {
			return err
		}
	}
	if m, ok, err := c.TryRecv(transport.Control); ok || err != nil {
		return fmt.Errorf("one control message too many: %v %v", m, err)
	}
	return nil
}

// controlOrder checks that control messages of one source and tag come in order.
func controlOrder(ctx context.Context, c transport.Comm) error {
	const count = 100
	var reqs []transport.Request
	for i := range count {
		for r := range c.Size() {
			reqs = append(reqs, c.Isend(transport.Control, r, 0, []byte{byte(i)}))
		}
	}
	expect := make([]byte, c.Size())
	var pause transport.Backoff
	for left := count * c.Size(); left > 0; {
		m, ok, err := c.TryRecv(transport.Control)
		switch {
		case err != nil:
			return err
		case !ok:
			pause.Pause()
			if ctx.Err() != nil {
				return fmt.Errorf("%d control messages did not come", left)
			}
			continue
		case !bytes.Equal(m.Payload, expect[m.Src:m.Src+1]):
			return fmt.Errorf("from rank %d: control message %v, want [%d]", m.Src, m.Payload, expect[m.Src])
		}
		expect[m.Src]++
		left--
	}
	return transport.WaitAll(ctx, c, reqs)
}

// concurrent uses one end from several goroutines at once.
func concurrent(ctx context.Context, c transport.Comm) error {
	const workers, rounds = 4, 60
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range rounds {
				in := make([]byte, 10+i*100)
				reqs := []transport.Request{
					c.Irecv(transport.Data, last, w, in),
					c.Isend(transport.Data, next, w, fill(make([]byte, len(in)), w*rounds+i)),
				}
				if errs[w] = transport.WaitAll(ctx, c, reqs); errs[w] != nil {
					return
				}
				if errs[w] = verify(in, w*rounds+i, "worker %d, round %d", w, i); errs[w] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// garbageCollector lets go of every send buffer, and collects while the transfers
// are in progress: the backend must keep them alive.
func garbageCollector(ctx context.Context, c transport.Comm) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	const count, size = 20, 100000
	var sends, receives []transport.Request
	for i := range count {
		sends = append(sends, c.Isend(transport.Data, next, i, fill(make([]byte, size), i)))
	}
	runtime.GC()
	var trash [][]byte
	for i := range count { // what would take the place of freed buffers
		trash = append(trash, bytes.Repeat([]byte{byte(i)}, size))
	}
	in := make([][]byte, count)
	for i := range count {
		in[i] = make([]byte, size)
		receives = append(receives, c.Irecv(transport.Data, last, i, in[i]))
	}
	runtime.GC()
	if err := transport.WaitAll(ctx, c, append(sends, receives...)); err != nil {
		return err
	}
	runtime.KeepAlive(trash)
	for i := range in {
		if err := verify(in[i], i, "message %d", i); err != nil {
			return err
		}
	}
	return nil
}

// barrier checks that nobody leaves before the last has come: each counts itself
// before it enters, and must find everybody counted when it leaves.
func barrier(ctx context.Context, c transport.Comm) error {
	maker, ok := c.(transport.CounterMaker)
	if !ok {
		return fmt.Errorf("%T makes no counters", c)
	}
	k, err := maker.NewCounters(ctx, 0, 1)
	if err != nil {
		return err
	}
	for round := range 3 * c.Size() {
		if round%c.Size() == c.Rank() { // each is the last one in some rounds
			time.Sleep(2 * time.Millisecond)
		}
		if _, err := k.FetchAdd(0, 1); err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		v, err := k.FetchAdd(0, 0)
		if err != nil {
			return err
		}
		if want := int64((round + 1) * c.Size()); v < want {
			return fmt.Errorf("round %d: left the barrier when %d of %d had come", round, v, want)
		}
	}
	return k.Free()
}

// sharedCounters claims steps from several goroutines of all ranks: each step once.
func sharedCounters(ctx context.Context, c transport.Comm) error {
	maker, ok := c.(transport.CounterMaker)
	if !ok {
		return fmt.Errorf("%T makes no counters", c)
	}
	for owner := range min(c.Size(), 2) {
		k, err := maker.NewCounters(ctx, owner, 3)
		if err != nil {
			return err
		}
		const workers, claims = 3, 200
		var sum, failed atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				last := int64(-1)
				for range claims {
					v, err := k.FetchAdd(1, 2)
					if err != nil || v <= last {
						failed.Add(1)
						return
					}
					last = v
					sum.Add(v)
				}
			})
		}
		group.Wait()
		if failed.Load() > 0 {
			return fmt.Errorf("claims failed or went backwards in %d goroutines", failed.Load())
		}
		if _, err := k.FetchAdd(2, sum.Load()); err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		n := int64(c.Size() * workers * claims)
		total, err := k.FetchAdd(2, 0)
		if err != nil {
			return err
		}
		if want := n * (n - 1); total != want { // 0 + 2 + 4 + ... + 2(n-1)
			return fmt.Errorf("the claimed steps add up to %d, want %d", total, want)
		}
		if _, err := k.FetchAdd(3, 1); err == nil {
			return fmt.Errorf("counter 3 of 3 was accepted")
		}
		if err := k.Free(); err != nil {
			return err
		}
	}
	return nil
}

// idle checks that a rank that waits for long leaves the core alone, in the quietest of several
// waits: the others may have met a garbage collection, or another rank of the same process that had
// to catch up.
func idle(ctx context.Context, c transport.Comm) error {
	if c.Size() == 1 {
		return nil
	}
	const wait, rounds = 75 * time.Millisecond, 8 // in none of 4 were they quiet on a busy machine
	least, of := time.Hour, time.Duration(0)
	for round := range rounds {
		if c.Rank() == 0 {
			time.Sleep(wait)
			var reqs []transport.Request
			for r := 1; r < c.Size(); r++ {
				reqs = append(reqs, c.Isend(transport.Data, r, round, []byte{1}))
			}
			if err := transport.WaitAll(ctx, c, reqs); err != nil {
				return err
			}
			continue
		}
		before := processorTime()
		begin := time.Now()
		if err := transport.WaitAll(ctx, c, []transport.Request{c.Irecv(transport.Data, 0, round, make([]byte, 1))}); err != nil {
			return err
		}
		if waited := time.Since(begin); waited > wait/2 { // else rank 0 was far ahead
			if used := processorTime() - before; used < least {
				least, of = used, waited
			}
		}
	}
	// A wait in a busy loop takes all of it; the bound leaves room for the other
	// ranks of the same process and for the race detector.
	if of > 0 && least > of/4 {
		return fmt.Errorf("waiting %v took %v of processor time, and not less in %d other waits", of, least, rounds-1)
	}
	return nil
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
