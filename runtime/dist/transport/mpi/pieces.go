//go:build mpi

package mpi

// #include "binding.h"
import "C"

import (
	"encoding/binary"
	"fmt"

	"flow/runtime/dist/transport"
)

// A data payload above a small limit goes as a header and one or more pieces. The
// header goes with the payload's own tag and states its size; the pieces go on a
// communicator of their own, and their tag is a number that the sender gives to the
// payload. The receiver posts the pieces once it has seen that the size is the one
// that it expects; the number keeps payloads apart however late that is.
//
// The reason is safety: Open MPI 4.1.4, where it copies between processes in the
// kernel (CMA), writes a message that is too long beyond the end of the receive's
// buffer and only then reports MPI_ERR_TRUNCATE. Messages that it sends eagerly are
// cut off as the standard says. The price is one short message, about 0.3 us; the
// transfer itself begins hardly later than it would anyway, because a large message
// waits for the receiver's word.
//
// The header's length tells it from a payload: one of that length has a header, too.
const (
	headerMagic = "flow\xff" // only against ranks of another program
	headerSize  = len(headerMagic) + 8 + 4

	// Below the eager limits of Open MPI's transports: eagerLimit for shared memory,
	// which alone copies in the kernel, and 1024 for a rank's messages to itself;
	// each includes some tens of bytes of the library's own. A user who lowers them
	// loses the protection, nothing else.
	eagerLimit    = 16 << 10
	bareLimit     = 16000
	bareLimitSelf = 900
)

// A form is how a payload of one size travels. Both ends derive it from the size. A payload whose
// size only the sender knows (IsendSome) has a header.
type form uint8

const (
	bare form = iota // one message, in place
	// the same, but shorter than a header: received in the envelope, so that a header that
	// comes instead can be read
	tiny
	headed // a header, then pieces
)

func (c *Comm) formOf(s *slot) form {
	limit := bareLimit
	if s.peer == c.rank {
		limit = bareLimitSelf
	}
	switch n := s.size; {
	case s.channel != transport.Data: // TryRecv sees the size before it receives
		return bare
	case s.some, n > min(limit, c.PieceLimit), n == headerSize:
		return headed
	case n < headerSize:
		return tiny
	}
	return bare
}

// writeHeader numbers a send and puts its header into the envelope. env.mu is held.
func (c *Comm) writeHeader(s *slot) {
	s.series = c.series
	// The number comes round again after 32768 payloads at least, long after the
	// earlier one has gone: pieces with one number are received in order, too.
	c.series = (c.series + 1) % (c.maxTag + 1)
	b := append(s.envelope[:0], headerMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.buf)))
	binary.LittleEndian.AppendUint32(b, uint32(s.series))
}

// readHeader reads the header that has come in b, a message of n bytes.
func readHeader(b []byte, n int) (total, series int, ok bool) {
	if n != headerSize || len(b) < headerSize || string(b[:len(headerMagic)]) != headerMagic {
		return 0, 0, false
	}
	b = b[len(headerMagic):]
	return int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint32(b[8:])), true
}

// sendHeaded starts a headed send, whose header goes from envelope and whose payload is at at.
// env.mu is held.
func (c *Comm) sendHeaded(s *slot, envelope, at C.uintptr_t) {
	c.writeHeader(s)
	h := C.flow_isend_headed(envelope, C.int(headerSize), C.int(s.tag), c.channels[s.channel].h,
		at, C.int(c.pieceSize(s, 0)), C.int(s.series), c.pieces.h, C.int(s.peer))
	s.first = c.started(s, 0, &h.header)
	s.more = append(s.more, c.started(s, 1, &h.piece))
	c.postPieces(s, at, c.PieceLimit)
}

// postPieces starts the pieces of s.buf, which is at at, from one byte on. Those that are received
// have mostly been on their way for longer than their header, and MPI then copies them at once.
// env.mu is held.
func (c *Comm) postPieces(s *slot, at C.uintptr_t, from int) {
	for ; from < len(s.buf) && s.err == nil; from += c.PieceLimit {
		s.more = append(s.more, c.postOn(c.pieces, s.series, s, len(s.more)+1, at+C.uintptr_t(from), c.pieceSize(s, from), s.kind == "receive"))
	}
}

// pieceSize is the size of the piece that starts at from.
func (c *Comm) pieceSize(s *slot, from int) int { return min(c.PieceLimit, len(s.buf)-from) }

// received takes in a message of a receive, which has brought got bytes (or would
// have, had there been room), and goes on to the pieces after a header, or to asking
// where a placed receive shall lie. env.mu is held.
func (c *Comm) received(s *slot, piece, got int) error {
	if piece > 0 {
		if want := c.pieceSize(s, (piece-1)*c.PieceLimit); got != want {
			return &transport.SizeError{Want: uint64(want), Got: uint64(got)}
		}
		return nil
	}
	want := s.size
	if s.form != headed && got == want {
		if s.form == tiny {
			copy(s.buf, s.envelope[:])
		}
		s.asking = s.place != nil
		return nil
	}
	landing := s.envelope[:]
	if s.form == bare {
		landing = s.buf
	}
	total, series, isHeader := readHeader(landing, got)
	if !isHeader {
		return &transport.SizeError{Want: uint64(want), Got: uint64(got)}
	}
	s.series = series
	if s.got != nil && 0 < total && total < want {
		want, s.buf = total, s.buf[:total]
	}
	if s.form == headed && total == want {
		if s.asking = s.place != nil; s.asking {
			return nil
		}
		if s.got != nil {
			*s.got = total
		}
		c.postPieces(s, address(&s.pin, s.buf), 0)
		return s.err
	}
	// Another size. The sender's request finishes only when somebody takes the
	// pieces, and it must not hang because of this rank's error.
	s.buf = make([]byte, total)
	c.postPieces(s, address(&s.pin, s.buf), 0)
	return &transport.SizeError{Want: uint64(want), Got: uint64(total)}
}

// supply asks a placed receive whose message is there for its memory, and goes on with that. False
// if there is none yet. env.mu is held.
func (c *Comm) supply(s *slot) bool {
	b := s.place()
	if b == nil {
		return false
	}
	s.asking = false
	switch {
	case len(b) != s.size:
		panic(fmt.Sprintf("BUG: a receive of %d bytes was given %d", s.size, len(b)))
	case s.form == headed:
		s.buf = b
		c.postPieces(s, address(&s.pin, b), 0)
	default:
		copy(b, s.buf)
	}
	return true
}
