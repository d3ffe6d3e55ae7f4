package transporttest

import (
	"context"
	"fmt"

	"flow/runtime/dist/transport"
)

// pingPong sends every interesting size between rank 0 and each other rank, and
// checks both ways.
func pingPong(ctx context.Context, c transport.Comm) error {
	for peer := 1; peer < c.Size(); peer++ {
		for i, n := range []int{0, 1, 7, 8, 13, 16, 17, 18, 64, 900, 901, 999, 1000, 1001, 4000, 4001, 4096, 4097, 16000, 16001, 16384, 65536, 65537, 1 << 20, 4<<20 + 3} {
			if n > 1<<20 && peer > 1 {
				continue // once is enough of what takes most of the time
			}
			seed := peer*100 + i
			switch c.Rank() {
			case 0:
				in := make([]byte, n)
				reqs := []transport.Request{
					c.Irecv(transport.Data, peer, i, in),
					c.Isend(transport.Data, peer, i, fill(make([]byte, n), seed)),
				}
				if err := transport.WaitAll(ctx, c, reqs); err != nil {
					return err
				}
				if err := verify(in, seed+1, "echo of size %d", n); err != nil {
					return err
				}
			case peer:
				in := make([]byte, n)
				if err := transport.WaitAll(ctx, c, []transport.Request{c.Irecv(transport.Data, 0, i, in)}); err != nil {
					return err
				}
				if err := verify(in, seed, "size %d", n); err != nil {
					return err
				}
				if err := transport.WaitAll(ctx, c, []transport.Request{c.Isend(transport.Data, 0, i, fill(in, seed+1))}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// outstanding has many transfers in progress at once, round a ring, and takes them
// by Testsome's indices.
func outstanding(ctx context.Context, c transport.Comm) error {
	const count, size = 700, 600
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := make([][]byte, count)
	var reqs []transport.Request
	for i := range count {
		in[i] = make([]byte, size+i)
		reqs = append(reqs, c.Irecv(transport.Data, last, i, in[i]))
	}
	for i := range count {
		reqs = append(reqs, c.Isend(transport.Data, next, i, fill(make([]byte, size+i), i)))
	}
	var pause transport.Backoff
	seen := make([]bool, len(reqs))
	for left, done := len(reqs), []int(nil); left > 0; {
		var err error
		if done, err = c.Testsome(reqs, done[:0]); err != nil {
			return err
		}
		for _, i := range done {
			if seen[i] {
				return fmt.Errorf("request %d finished twice", i)
			}
			if reqs[i] != transport.None {
				return fmt.Errorf("request %d finished, but is not None", i)
			}
			seen[i] = true
			if i < count {
				if err := verify(in[i], i, "message %d", i); err != nil {
					return err
				}
			}
		}
		if left -= len(done); len(done) == 0 {
			pause.Pause()
			if ctx.Err() != nil {
				return fmt.Errorf("%d of %d requests never finished", left, len(reqs))
			}
		}
	}
	return nil
}

// postingOrder receives in the reverse of the sending order, with the receives
// posted before and after the messages arrive.
func postingOrder(ctx context.Context, c transport.Comm) error {
	const count = 64
	for round := range 2 {
		next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		in := make([][]byte, count)
		var reqs []transport.Request
		post := func() {
			for i := count - 1; i >= 0; i-- {
				in[i] = make([]byte, 100*(i%50))
				reqs = append(reqs, c.Irecv(transport.Data, last, i, in[i]))
			}
		}
		if round == 0 {
			post()
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		for i := range count {
			reqs = append(reqs, c.Isend(transport.Data, next, i, fill(make([]byte, 100*(i%50)), i+round)))
		}
		if round == 1 {
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			post()
		}
		if err := transport.WaitAll(ctx, c, reqs); err != nil {
			return err
		}
		for i := range in {
			if err := verify(in[i], i+round, "tag %d", i); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameTag checks that messages of one stream arrive in order although large ones
// take another way than small ones.
func sameTag(ctx context.Context, c transport.Comm) error {
	const count = 120
	size := func(i int) int { return []int{8, 70000, 0, 1000, 5000}[i%5] }
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := make([][]byte, count)
	var reqs []transport.Request
	for i := range count {
		reqs = append(reqs, c.Isend(transport.Data, next, 3, fill(make([]byte, size(i)), i)))
	}
	for i := range count {
		in[i] = make([]byte, size(i))
		reqs = append(reqs, c.Irecv(transport.Data, last, 3, in[i]))
	}
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	for i := range in {
		if err := verify(in[i], i, "message %d of one tag", i); err != nil {
			return err
		}
	}
	return nil
}

// placed receives into memory that is found when the message is there, at the second time of
// asking, among messages of the same tag that have theirs from the beginning. What has been posted
// and not sent is not asked about.
func placed(ctx context.Context, c transport.Comm) error {
	sizes := []int{1 << 20, 8, 70000, 17, 0, 1, 4000, 4001, 300, 900, 901, 70000}
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := make([][]byte, len(sizes))
	asked := make([]int, len(sizes))
	var reqs []transport.Request
	for i, n := range sizes {
		if i%4 == 3 {
			in[i] = make([]byte, n)
			reqs = append(reqs, c.Irecv(transport.Data, last, 5, in[i]))
			continue
		}
		reqs = append(reqs, c.IrecvPlaced(last, 5, n, func() []byte {
			if asked[i]++; asked[i] == 1 {
				return nil
			}
			in[i] = make([]byte, n)
			return in[i]
		}))
	}
	for range 100 {
		if done, err := c.Testsome(reqs, nil); err != nil || len(done) > 0 {
			return fmt.Errorf("before anything was sent %d receives finished, error %v", len(done), err)
		}
	}
	for i, a := range asked {
		if a > 0 {
			return fmt.Errorf("the memory of message %d was asked for before it was sent", i)
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	for i, n := range sizes {
		reqs = append(reqs, c.Isend(transport.Data, next, 5, fill(make([]byte, n), i)))
	}
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	for i, n := range sizes {
		if i%4 != 3 && asked[i] != 2 {
			return fmt.Errorf("the memory of message %d was asked for %d times, want 2", i, asked[i])
		}
		if len(in[i]) != n {
			return fmt.Errorf("message %d has %d bytes, want %d", i, len(in[i]), n)
		}
		if err := verify(in[i], i, "placed message %d", i); err != nil {
			return err
		}
	}
	return nil
}

// some receives messages of unknown lengths, between others of the same tag and of known lengths.
func some(ctx context.Context, c transport.Comm) error {
	const most = 3 << 20
	sizes := []int{1, 8, 18, 3000, 4001, 70000, 2<<20 + 8, most}
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in, got := make([][]byte, 2*len(sizes)), make([]int, len(sizes))
	var reqs []transport.Request
	for i, n := range sizes {
		in[2*i], in[2*i+1] = make([]byte, most), make([]byte, n)
		reqs = append(reqs, c.IrecvSome(last, 6, in[2*i], &got[i]), c.Irecv(transport.Data, last, 6, in[2*i+1]))
	}
	for i, n := range sizes {
		reqs = append(reqs, c.IsendSome(next, 6, fill(make([]byte, n), 2*i)), c.Isend(transport.Data, next, 6, fill(make([]byte, n), 2*i+1)))
	}
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	for i, n := range sizes {
		if got[i] != n {
			return fmt.Errorf("message %d has %d bytes, want %d", i, got[i], n)
		}
		in[2*i] = in[2*i][:n]
	}
	for i := range in {
		if err := verify(in[i], i, "message %d of unknown length", i); err != nil {
			return err
		}
	}
	return nil
}

// tagRange uses edge numbers beyond the tag limit, reduced as callers do, so that
// the first and the last tag occur and tags repeat.
func tagRange(ctx context.Context, c transport.Comm) error {
	if c.MaxTag() < 32767 {
		return fmt.Errorf("MaxTag is %d, less than 32767", c.MaxTag())
	}
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	const count = 40
	in := make([][]byte, count)
	var reqs []transport.Request
	for i := range count {
		edge := c.MaxTag() - 9 + i%20 // each twice, ten of them beyond the limit
		tag := edge % (c.MaxTag() + 1)
		in[i] = make([]byte, 16)
		reqs = append(reqs, c.Irecv(transport.Data, last, tag, in[i]),
			c.Isend(transport.Data, next, tag, fill(make([]byte, 16), i)))
	}
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	for i := range in {
		if err := verify(in[i], i, "edge %d", i); err != nil {
			return err
		}
	}
	return nil
}

// selfSend sends from each rank to itself.
func selfSend(ctx context.Context, c transport.Comm) error {
	for i, n := range []int{0, 8, 100000, 1 << 20} {
		in := make([]byte, n)
		reqs := []transport.Request{
			c.Isend(transport.Data, c.Rank(), 1, fill(make([]byte, n), i)),
			c.Irecv(transport.Data, c.Rank(), 1, in),
		}
		if err := transport.WaitAll(ctx, c, reqs); err != nil {
			return err
		}
		if err := verify(in, i, "own message of %d bytes", n); err != nil {
			return err
		}
	}
	return nil
}

// allToAll has every rank send to every rank, itself included.
func allToAll(ctx context.Context, c transport.Comm) error {
	for round, size := range []int{16, 9000, 300000} {
		var reqs []transport.Request
		in := make([][]byte, c.Size())
		for r := range in {
			in[r] = make([]byte, size+r)
			reqs = append(reqs, c.Irecv(transport.Data, r, round, in[r]))
		}
		for r := range in {
			out := fill(make([]byte, size+c.Rank()), 1000*c.Rank()+r)
			reqs = append(reqs, c.Isend(transport.Data, r, round, out))
		}
		if err := transport.WaitAll(ctx, c, reqs); err != nil {
			return err
		}
		for r := range in {
			if err := verify(in[r], 1000*r+c.Rank(), "from rank %d", r); err != nil {
				return err
			}
		}
	}
	return nil
}

// largePayload sends 3 MiB twice on one tag between small messages: a backend that
// cuts payloads must not mix up the pieces.
func largePayload(ctx context.Context, c transport.Comm) error {
	const size = 3<<20 + 5
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	sizes := []int{17, size, 16, size, 0}
	in := make([][]byte, len(sizes))
	var reqs []transport.Request
	for i, n := range sizes {
		in[i] = make([]byte, n)
		reqs = append(reqs, c.Irecv(transport.Data, last, 2, in[i]))
	}
	for i, n := range sizes {
		reqs = append(reqs, c.Isend(transport.Data, next, 2, fill(make([]byte, n), i)))
	}
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	for i := range in {
		if err := verify(in[i], i, "message %d", i); err != nil {
			return err
		}
	}
	return nil
}
