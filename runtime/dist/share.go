package dist

// This file distributes bytes of rank 0 to all ranks before anything runs.

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

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
	if comm.Rank() == 0 {
		var sent []transport.Request
		for to := 1; to < comm.Size(); to++ {
			if mine == nil {
				sent = append(sent, comm.Isend(transport.Data, to, shareTag, binary.LittleEndian.AppendUint64(nil, math.MaxUint64)))
			} else {
				sent = append(sent, sendText(comm, to, mine)...)
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
	return receiveText(ctx, comm, 0)
}

// Gather returns on rank 0 the bytes of every other rank of comm, by rank; mine is sent to it. All
// ranks call it. It waits for all ranks as long as ctx allows.
func Gather(ctx context.Context, comm transport.Comm, mine []byte) (all [][]byte, err error) {
	if comm.Rank() > 0 {
		return nil, transport.WaitAll(ctx, comm, sendText(comm, 0, mine))
	}
	all = make([][]byte, comm.Size())
	for from := 1; from < comm.Size() && err == nil; from++ {
		all[from], err = receiveText(ctx, comm, from)
	}
	return all, err
}

// sendText sends bytes with their length.
func sendText(comm transport.Comm, to int, b []byte) []transport.Request {
	sent := []transport.Request{comm.Isend(transport.Data, to, shareTag, binary.LittleEndian.AppendUint64(nil, uint64(len(b))))}
	if len(b) > 0 {
		sent = append(sent, comm.Isend(transport.Data, to, shareTag, b))
	}
	return sent
}

// receiveText receives what sendText has sent, or ErrNotShared.
func receiveText(ctx context.Context, comm transport.Comm, from int) ([]byte, error) {
	size := make([]byte, 8)
	if err := transport.WaitAll(ctx, comm, []transport.Request{comm.Irecv(transport.Data, from, shareTag, size)}); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(size))
	if n < 0 {
		return nil, ErrNotShared
	}
	text := make([]byte, n)
	if n > 0 {
		if err := transport.WaitAll(ctx, comm, []transport.Request{comm.Irecv(transport.Data, from, shareTag, text)}); err != nil {
			return nil, err
		}
	}
	return text, nil
}
