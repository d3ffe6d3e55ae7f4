package transporttest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flow/runtime/dist/transport"
)

// expectOne waits for a single request and returns the one failure that it must
// have.
func expectOne(ctx context.Context, c transport.Comm, r transport.Request) (*transport.Error, error) {
	err := transport.WaitAll(ctx, c, []transport.Request{r})
	f := Failures(err)
	if len(f) != 1 {
		return nil, fmt.Errorf("%d failures, want one: %v", len(f), err)
	}
	if f[0].Rank != c.Rank() || f[0].Index != 0 {
		return nil, fmt.Errorf("the failure is of rank %d, request %d; want %d, 0: %v", f[0].Rank, f[0].Index, c.Rank(), err)
	}
	return f[0], nil
}

// Failures is transport.Failures.
func Failures(err error) []*transport.Error { return transport.Failures(err) }

// arguments checks that wrong arguments fail the request and nothing else.
func arguments(ctx context.Context, c transport.Comm) error {
	b := make([]byte, 4)
	for i, r := range []transport.Request{
		c.Isend(transport.Data, c.Size(), 0, b),
		c.Isend(transport.Data, -1, 0, b),
		c.Irecv(transport.Data, c.Size(), 0, b),
		c.Isend(transport.Data, 0, -1, b),
		c.Irecv(transport.Data, 0, c.MaxTag()+1, b),
		c.Isend(transport.NumChannels, 0, 0, b),
	} {
		f, err := expectOne(ctx, c, r)
		if err != nil {
			return fmt.Errorf("wrong argument %d: %w", i, err)
		}
		var a *transport.ArgumentError
		if !errors.As(f, &a) {
			return fmt.Errorf("wrong argument %d gives %v", i, f)
		}
	}
	f, err := expectOne(ctx, c, c.Irecv(transport.Control, 0, 0, b))
	if err != nil || !errors.Is(f, transport.ErrChannel) {
		return fmt.Errorf("receiving on the control channel gives %v, %v", f, err)
	}
	for _, ch := range []transport.Channel{transport.Data, transport.NumChannels} {
		if _, _, err := c.TryRecv(ch); !errors.Is(err, transport.ErrChannel) {
			return fmt.Errorf("TryRecv on channel %d gives %v", ch, err)
		}
	}
	return nil
}

// staleRequest checks that a request that has finished is not taken for another
// one that has its place.
func staleRequest(ctx context.Context, c transport.Comm) error {
	in := make([]byte, 1)
	pair := func() []transport.Request {
		return []transport.Request{c.Irecv(transport.Data, c.Rank(), 9, in), c.Isend(transport.Data, c.Rank(), 9, []byte{7})}
	}
	reqs := pair()
	old := reqs[0]
	if err := transport.WaitAll(ctx, c, reqs); err != nil {
		return err
	}
	reqs = pair()
	for _, stale := range []transport.Request{old, 1 << 31} {
		f, err := expectOne(ctx, c, stale)
		if err != nil {
			return err
		}
		if !errors.Is(f, transport.ErrUnknownRequest) {
			return fmt.Errorf("a stale request gives %v", f)
		}
	}
	return transport.WaitAll(ctx, c, reqs)
}

// sizeMismatch checks that a receive of another size fails with both sizes, and
// names the peer and the tag, for messages on both sides of every limit and for placed receives.
func sizeMismatch(ctx context.Context, c transport.Comm) error {
	if c.Size() == 1 {
		return nil
	}
	type size struct{ sent, expected int }
	sizes := []size{
		{8, 16}, {16, 8}, {0, 1}, {1, 0}, {100000, 8}, {8, 100000}, {13, 2 << 20}, {17, 18}, {2 << 20, 13}, {2 << 20, 17}, {5000, 4999}, {2 << 20, 2<<20 + 8}, {2<<20 + 8, 2 << 20},
	}
	for i, k := range append(sizes, sizes...) {
		tag := 20000 + i // of this case alone
		switch c.Rank() {
		case 0:
			// The sender may or may not learn of it, but must not hang.
			_ = transport.WaitAll(ctx, c, []transport.Request{c.Isend(transport.Data, 1, tag, make([]byte, k.sent))})
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("sending %d bytes to a receive of %d: %w", k.sent, k.expected, err)
			}
		case 1:
			r := transport.None
			if i < len(sizes) {
				r = c.Irecv(transport.Data, 0, tag, make([]byte, k.expected))
			} else {
				r = c.IrecvPlaced(0, tag, k.expected, func() []byte { return make([]byte, k.expected) })
			}
			f, err := expectOne(ctx, c, r)
			if err != nil {
				return fmt.Errorf("sent %d, expected %d: %w", k.sent, k.expected, err)
			}
			want := &transport.SizeError{Want: uint64(k.expected), Got: uint64(k.sent)}
			var got *transport.SizeError
			if !errors.As(f, &got) || *got != *want {
				return fmt.Errorf("sent %d, expected %d: got %q, want %q", k.sent, k.expected, f, want)
			}
			if f.Peer != 0 || f.Tag != tag || f.Op != "receive" || !strings.Contains(f.Error(), "from rank 0") {
				return fmt.Errorf("the failure does not say which transfer: %q", f)
			}
		}
	}
	return nil
}
