package dist

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"flow/runtime/dist/transport/mem"
)

func TestShare(t *testing.T) {
	for _, text := range [][]byte{[]byte("emit 1\n"), {}, bytes.Repeat([]byte("x = 1\n"), 1<<18), nil} {
		comms := mem.New(4, mem.Options{})
		var all sync.WaitGroup
		for rank, c := range comms {
			all.Go(func() {
				defer c.Close()
				var mine []byte
				if rank == 0 {
					mine = text
				}
				got, err := Share(context.Background(), c, mine)
				if want := text == nil; errors.Is(err, ErrNotShared) != want || err != nil && !want || !bytes.Equal(got, text) {
					t.Errorf("rank %d has %d bytes of %d: %v", rank, len(got), len(text), err)
				}
			})
		}
		all.Wait()
	}
}
