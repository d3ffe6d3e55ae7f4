package mem

import (
	"context"
	"testing"

	"flow/runtime/dist/transport"
)

// TestCopiesInPlace sends above and below the eager limit, before and after the
// receive is posted.
func TestCopiesInPlace(t *testing.T) {
	for _, n := range []int{0, 1, DefaultEagerLimit, DefaultEagerLimit + 1} {
		c := New(2, Options{})
		for order := range 2 {
			out, in := make([]byte, n), make([]byte, n)
			for i := range out {
				out[i] = byte(i*7 + 1)
			}
			var s, r []transport.Request
			if order == 0 {
				s = append(s, c[0].Isend(transport.Data, 1, 5, out))
			}
			r = append(r, c[1].Irecv(transport.Data, 0, 5, in))
			if order == 1 {
				s = append(s, c[0].Isend(transport.Data, 1, 5, out))
			}
			for i, e := range []error{transport.WaitAll(context.Background(), c[1], r), transport.WaitAll(context.Background(), c[0], s)} {
				if e != nil {
					t.Fatalf("size %d, order %d, request %d: %v", n, order, i, e)
				}
			}
			if string(in) != string(out) {
				t.Fatalf("size %d, order %d: received other bytes", n, order)
			}
		}
	}
}
