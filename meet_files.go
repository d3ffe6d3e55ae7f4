package flow

import (
	"bytes"
	"context"
	"encoding/gob"

	"flow/kernels/inout"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
)

// This file lets one rank read before the run what all need to know of files.

// readFact is what rank 0 has read of a file, and the file.
type readFact struct {
	inout.Fact
	Size   int64
	Sample [32]byte // as in dist.Input
}

// ShareFiles gives the other ranks of comm what rank 0 had to read of files to compile a program with in:
// the size of a graph is known when all of it is read. All ranks call it, rank 0 after Compile, also
// if that fails, and the others before, with the Input that they compile with. A rank whose file has
// another size or other contents in a sample reads its own; Meet then tells the difference. It
// blocks until rank 0 has called it, or until ctx ends.
func ShareFiles(ctx context.Context, comm transport.Comm, in *Input) error {
	if comm.Size() == 1 {
		return nil
	}
	var mine bytes.Buffer
	if comm.Rank() == 0 {
		var list []readFact
		for _, x := range in.Learned() {
			if file, err := dist.InputOf(x.Path, "", false); err == nil {
				list = append(list, readFact{x, file.Size, file.Sample})
			}
		}
		if err := gob.NewEncoder(&mine).Encode(list); err != nil {
			return err
		}
	}
	text, err := dist.Share(ctx, comm, mine.Bytes())
	if err != nil || comm.Rank() == 0 {
		return err
	}
	var list []readFact
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&list); err != nil {
		return err
	}
	for _, x := range list {
		if own, err := dist.InputOf(x.Path, "", false); err == nil && own.Size == x.Size && own.Sample == x.Sample {
			in.Known = append(in.Known, &x.Fact)
		}
	}
	return nil
}
