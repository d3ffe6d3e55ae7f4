package dist

// This file compares the files that ranks read: see Note [Inputs].

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

const (
	// sampleBlocks blocks of sampleBytes are compared of each file: 1 MiB, which takes a
	// millisecond. A smaller file is compared whole.
	sampleBlocks = 64
	sampleBytes  = 16 << 10
)

// InputOf describes a regular file. whole: hash all of it. The error is the system's.
func InputOf(path, head string, whole bool) (Input, error) {
	in := Input{Path: path, Head: head}
	f, err := os.Open(path)
	if err != nil {
		return in, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, err
	}
	in.Size, in.Modified = info.Size(), info.ModTime().UnixNano()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		in.Device, in.Inode, in.Changed = uint64(st.Dev), st.Ino, changeTime(st)
	}
	if in.Sample, err = sample(f, in.Size); err != nil || !whole {
		return in, err
	}
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(f, 0, in.Size))
	in.Whole = [32]byte(h.Sum(nil))
	return in, err
}

// sample hashes blocks at places that depend on the size: the first, the last, and others at equal
// distances.
func sample(f io.ReaderAt, size int64) (sum [32]byte, err error) {
	h := sha256.New()
	_ = binary.Write(h, binary.LittleEndian, size) // a hash takes everything
	if size <= sampleBlocks*sampleBytes {
		_, err = io.Copy(h, io.NewSectionReader(f, 0, size))
		return [32]byte(h.Sum(nil)), err
	}
	for k := range int64(sampleBlocks) {
		at := int64(float64(size-sampleBytes) / (sampleBlocks - 1) * float64(k))
		if _, err := io.Copy(h, io.NewSectionReader(f, at, sampleBytes)); err != nil {
			return sum, err
		}
	}
	return [32]byte(h.Sum(nil)), nil
}

// isFile reports whether two inputs, of ranks on the same machine or not, are one file. Device
// numbers mean nothing on another machine. A copy that keeps the modification time has another
// change time.
func (in Input) isFile(o Input, sameMachine bool) bool {
	return in.Inode != 0 && in.Inode == o.Inode && in.Size == o.Size && in.Modified == o.Modified && in.Changed == o.Changed &&
		(!sameMachine || in.Device == o.Device)
}

// differs returns how an input differs from rank 0's, as far as compared, or "".
func (in Input) differs(first Input) string {
	switch {
	case in.Size != first.Size:
		return fmt.Sprintf("%d bytes, not %d", in.Size, first.Size)
	case in.Head != first.Head && in.Head != "" && first.Head != "":
		return in.Head + ", not " + first.Head
	case in.Sample != first.Sample || in.Whole != first.Whole:
		return "other contents of the same size"
	}
	return ""
}

// compareInputs returns which file differs between ranks, and lists files that are equal as far as
// compared, but not one file on all ranks.
func compareInputs(all []*hello) (mismatch string, unshared []string) {
	byPath := func(h *hello, path string) (Input, bool) {
		k := slices.IndexFunc(h.Inputs, func(in Input) bool { return in.Path == path })
		if k < 0 {
			return Input{}, false
		}
		return h.Inputs[k], true
	}
	for _, first := range all[0].Inputs {
		how := ""
		var ranks []string
		one := true
		for _, h := range all[1:] {
			in, reads := byPath(h, first.Path)
			if !reads {
				// the reason why it reads other files is reported elsewhere
				continue
			}
			if d := in.differs(first); d != "" {
				ranks = append(ranks, fmt.Sprint(h.From))
				if how == "" {
					how = d
				}
			}
			one = one && in.isFile(first, all[0].Process.sameMachine(h.Process))
		}
		if len(ranks) == 1 {
			return fmt.Sprintf("rank %s reads another %s than rank 0: %s", ranks[0], first.Path, how), nil
		} else if len(ranks) > 1 {
			return fmt.Sprintf("ranks %s read another %s than rank 0, rank %s %s", strings.Join(ranks, ", "), first.Path, ranks[0], how), nil
		}
		if !one {
			unshared = append(unshared, first.Path)
		}
	}
	return "", unshared
}

// sameMachine reports whether two processes run on one machine, in any containers.
func (p process) sameMachine(o process) bool {
	boot, _, ok := strings.Cut(p.Space, " ")
	other, _, _ := strings.Cut(o.Space, " ")
	return ok && boot == other
}

// Note [Inputs]
//
// Ranks that read different contents under one name would mix them: half of a matrix from each. So
// before the first task all ranks describe each file that the program reads, and rank 0 compares:
// size, the format's head, and hashes of 64 blocks at places that the size fixes. That finds every
// difference in small files and in heads, and probably one file in the place of another; it does
// not find a single different number in a large file. If all ranks see one file there is nothing to
// compare: same inode, modification and change times, size, and on one machine the same device.
// Otherwise only rank 0 reads it, and sends what the others need (plan: tasks that read it belong
// to rank 0), so that undetected differences cannot be mixed. --verify-inputs hashes all of every
// file, and then reports differences.
//
// The size of some values is known only when a whole file has been read. Rank 0 reads it first,
// together with the others if the file can be read by blocks, and tells them what it has learned
// (flow.ReadTogether). All compile then. A rank whose file differs in size or sample reads its own, so
// that the comparison tells the difference in the same words.
//
// It is wrong if a file is written between the comparison and the reading.
