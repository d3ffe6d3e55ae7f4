package dist

// This file distributes bytes of rank 0 to all ranks before anything runs.

import (
	"context"
	"encoding/binary"
	"errors"

	"flow/runtime/dist/transport"
)

// shareTag is the tag of shared bytes.
const shareTag = 0

// ErrNotShared means that rank 0 has nothing to share.
var ErrNotShared = errors.New("rank 0 could not read it")

// Share returns rank 0's bytes on every rank of comm, which all call it before Agree and Run. nil
// on rank 0 means that it has none: the error is then ErrNotShared on all ranks. It waits for rank
// 0 as long as ctx allows.
func Share(ctx context.Context, comm transport.Comm, mine []byte) ([]byte, error) {
	size := make([]byte, 8)
	if comm.Rank() == 0 {
		n := int64(-1)
		if mine != nil {
			n = int64(len(mine))
		}
		binary.LittleEndian.PutUint64(size, uint64(n))
		var sent []transport.Request
		for to := 1; to < comm.Size(); to++ {
			sent = append(sent, comm.Isend(transport.Data, to, shareTag, size))
			if n > 0 {
				sent = append(sent, comm.Isend(transport.Data, to, shareTag, mine))
			}
		}
		if err := transport.WaitAll(ctx, comm, sent); err != nil {
			return nil, err
		}
		if mine == nil {
			return nil, ErrNotShared
		}
		return mine, nil
	}
	if err := transport.WaitAll(ctx, comm, []transport.Request{comm.Irecv(transport.Data, 0, shareTag, size)}); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(size))
	if n < 0 {
		return nil, ErrNotShared
	}
	text := make([]byte, n)
	if n > 0 {
		if err := transport.WaitAll(ctx, comm, []transport.Request{comm.Irecv(transport.Data, 0, shareTag, text)}); err != nil {
			return nil, err
		}
	}
	return text, nil
}
