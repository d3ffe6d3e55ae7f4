//go:build mpi

package mpi

// #include "binding.h"
import "C"

import (
	"encoding/binary"

	"flow/runtime/dist/transport"
)

// A payload above the limit goes as a header and pieces, all with the payload's own
// source, tag and channel, whose order MPI keeps. The header states the whole size,
// so that ranks that expect different sizes find out instead of mixing up pieces.
// Its odd length and its first bytes tell it from a payload, for which they could
// only be mistaken if that were 13 bytes long.
const (
	headerMagic = "flow\xff"
	headerSize  = len(headerMagic) + 8
)

// startPieces starts a cut transfer, whose buffer is at at. env.mu is held.
func (c *Comm) startPieces(s *slot, at C.uintptr_t) {
	s.header = make([]byte, headerSize)
	if s.kind == "send" {
		copy(s.header, headerMagic)
		binary.LittleEndian.PutUint64(s.header[len(headerMagic):], uint64(len(s.buf)))
	}
	s.first = c.post(s, address(&s.pin, s.header), headerSize)
	for from := 0; from < len(s.buf) && s.err == nil; from += c.PieceLimit {
		s.more = append(s.more, c.post(s, at+C.uintptr_t(from), c.pieceSize(s, from)))
	}
	if s.err != nil && s.kind == "receive" {
		c.cancel(s)
	}
}

// pieceSize is the size of the piece that starts at from.
func (c *Comm) pieceSize(s *slot, from int) int { return min(c.PieceLimit, len(s.buf)-from) }

// sizeError compares what a message of a receive has brought with what was
// expected. err is MPI's own, about a message that was too long.
func (c *Comm) sizeError(s *slot, piece, got int, err error) error {
	want, landed := len(s.buf), s.buf
	switch {
	case s.header == nil:
	case piece == 0:
		if total, ok := readHeader(s.header, got); ok && err == nil {
			if total != uint64(want) {
				return &transport.SizeError{Want: uint64(want), Got: total}
			}
			return nil
		}
		return &transport.SizeError{Want: uint64(want), Got: uint64(got)}
	default:
		want, landed = c.pieceSize(s, (piece-1)*c.PieceLimit), nil
	}
	if err == nil && got == want {
		return nil
	}
	if total, ok := readHeader(landed, got); ok {
		return &transport.SizeError{Want: uint64(want), Got: total}
	}
	if got <= want { // too long, but this MPI library does not say by how much
		if err != nil {
			return err
		}
	}
	return &transport.SizeError{Want: uint64(want), Got: uint64(got)}
}

// readHeader reads the header of a cut payload from a message of n bytes.
func readHeader(b []byte, n int) (total uint64, ok bool) {
	if n != headerSize || len(b) < headerSize || string(b[:len(headerMagic)]) != headerMagic {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[len(headerMagic):]), true
}

// cancel withdraws the messages of a receive that have not been met yet; each then
// finishes as cancelled, or with its data. env.mu is held.
func (c *Comm) cancel(s *slot) {
	for _, h := range append(s.more, s.first) {
		if h != c.env.null {
			C.flow_cancel(h)
		}
	}
}
