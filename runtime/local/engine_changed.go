package local

// This file lets a gather with lists send only the rows that have changed since the round before. Loops
// to a fixpoint, such as labels that spread through a graph, change few rows in most rounds.
//
// Both ranks keep the rows of the last message. A message with changed rows has their number, their
// positions in the list (uint32 each, padded to a multiple of 8 bytes) and their bytes. It is at most
// half as long as a message with all rows, so its length tells which it is. Rows are compared by their
// bits.
//
// If most values change, comparing and keeping rows are in vain. So both ranks look at a sample of the
// rows of each message. They keep the rows of the first message, and of one that has at least an eighth
// of the sample in common with the message before.

import (
	"encoding/binary"
	"slices"

	"flow/ir"
)

// smallest is the least size of all rows, in bytes, for which a message with changed rows may pay.
const smallest = 1 << 10

// begin begins a round whose rows have so many bytes in all. It reports whether the message may have
// only the changed ones.
func (x *resending) begin(bytes int) bool {
	if x.bytes != bytes { // the list is another one
		x.bytes, x.kept, x.sample = bytes, false, nil
	}
	return x.kept
}

// sampled is the number of rows in a sample.
const sampled = 64

// compare takes a sample of the rows of a message. It returns how many of them are as in the message
// before, and whether the ranks keep the rows. rows lists the rows of from; nil: all of them. A row has
// size bytes.
func (x *resending) compare(from []byte, rows []int32, size int) (same int, keep bool) {
	if x.bytes < smallest {
		return 0, false
	}
	first := x.sample == nil
	if first {
		x.sample = make([]byte, sampled*size)
	}
	for s := range uint64(sampled) {
		k := int(uint64(uint32(s*2654435769)) * uint64(x.bytes/size) >> 32) // scattered, because changes may be regular
		if rows != nil {
			k = int(rows[k])
		}
		last, now := x.sample[int(s)*size:][:size], from[k*size:]
		if string(last) == string(now[:size]) {
			same++
		}
		copy(last, now)
	}
	return same, first || 8*same >= sampled
}

// inRounds reports whether gather g may run more than once.
func (e *Engine) inRounds(g *gather) bool { return g.id >= ir.ID(e.p.Graph.Len()) }

// message returns the bytes to send of a matrix: the rows in a list, or all. A row has size bytes.
// some: the receiver does not know the length. rounds: there may be later messages.
func (x *resending) message(matrix []byte, rows []int32, all bool, size int, rounds bool) (b []byte, some bool) {
	n := len(rows) * size
	if all {
		n, rows = len(matrix), nil
	}
	some = rounds && x.begin(n)
	if rounds {
		var same int
		// Only about a third of all rows may differ if a message with the changed ones is to be shorter.
		if same, x.kept = x.compare(matrix, rows, size); some && 2*same >= sampled {
			return x.changes(matrix, rows, size), true
		}
	}
	switch {
	case !all:
		pack(room(&x.last, n), matrix, rows, size)
		return x.last, some
	case x.kept:
		copy(room(&x.last, n), matrix)
	}
	return matrix, some
}

// changes updates x.last and returns the message: the changed rows, or all if too many have changed.
// rows lists the rows of from; nil: all of them. A row has size bytes.
func (x *resending) changes(from []byte, rows []int32, size int) []byte {
	count, most := x.bytes/size, (x.bytes/2-8)/(size+4)
	x.at = x.at[:0]
	for k := 0; ; {
		if k = differs(x.last, from, rows, k, count, size); k == count {
			break
		}
		if len(x.at) >= most {
			if rows == nil {
				copy(x.last[k*size:], from[k*size:])
			} else {
				pack(x.last[k*size:], from, rows[k:], size)
			}
			return x.last
		}
		if size == 8 {
			end := min(k+atOnce, count)
			x.update(numbers(from), rows, k, end)
			k = end
			continue
		}
		j := k
		if rows != nil {
			j = int(rows[k])
		}
		copy(x.last[k*size:(k+1)*size], from[j*size:])
		x.at = append(x.at, int32(k))
		k++
	}
	if len(x.at) > most {
		return x.last
	}
	b := binary.LittleEndian.AppendUint32(x.some[:0], uint32(len(x.at)))
	for _, k := range x.at {
		b = binary.LittleEndian.AppendUint32(b, uint32(k))
	}
	b = append(b, make([]byte, -len(b)&7)...)
	head := len(b)
	b = slices.Grow(b, len(x.at)*size)[:head+len(x.at)*size]
	pack(b[head:], x.last, x.at, size)
	x.some = b
	return b
}

// atOnce is the number of rows that update takes after a changed one was found. It has no branch for a
// row, since processors cannot predict which rows have changed. Where a third had, wrong predictions
// took 4 ms of each round of connected components.
const atOnce = 128

// update copies positions lo..hi-1 of from to last, and appends those that have changed to x.at.
func (x *resending) update(from []uint64, rows []int32, lo, hi int) {
	x.at = slices.Grow(x.at, hi-lo)
	last, n := numbers(x.last)[lo:hi], len(x.at)
	at := x.at[:n+hi-lo]
	for k := range last {
		j := lo + k
		if rows != nil {
			j = int(rows[j])
		}
		changed := last[k] ^ from[j]
		last[k] = from[j]
		at[n] = int32(lo + k)
		n += int((changed | -changed) >> 63)
	}
	x.at = at[:n]
}

// differs returns the first position, from k on, whose row differs from that of last; count if there is
// none.
func differs(last, from []byte, rows []int32, k, count, size int) int {
	switch {
	case size == 8 && rows != nil:
		last, from := numbers(last)[:count], numbers(from)
		for rows = rows[:count]; k < count && last[k] == from[rows[k]]; k++ {
		}
	case size == 8:
		last, from := numbers(last)[:count], numbers(from)[:count]
		for ; k < count && last[k] == from[k]; k++ {
		}
	default:
		for ; k < count; k++ {
			j := k
			if rows != nil {
				j = int(rows[k])
			}
			if string(last[k*size:(k+1)*size]) != string(from[j*size:(j+1)*size]) {
				break
			}
		}
	}
	return k
}

// complete replaces received messages with changed rows by all rows. A row has size bytes. landed(r)
// reports that f.landed has the rows of rank r. It then changes places with the last rows, because the
// rows are only read from now on.
func (f *fetch) complete(size int, landed func(r int) bool) {
	for r := range f.received {
		x, all := &f.received[r], f.Take[r]
		if f.TakeSome[r] && f.Got[r] < x.bytes {
			n := int(binary.LittleEndian.Uint32(all))
			at, rows := all[4:], all[(4+4*n+7)&^7:]
			x.at = x.at[:0]
			for i := range n {
				x.at = append(x.at, int32(binary.LittleEndian.Uint32(at[4*i:])))
			}
			unpack(x.last, rows, x.at, size)
			if _, x.kept = x.compare(x.last, nil, size); landed(r) {
				f.Take[r] = x.last
			} else {
				copy(all, x.last)
			}
			continue
		}
		if _, x.kept = x.compare(all, nil, size); !x.kept {
		} else if landed(r) {
			x.last, f.landed[r] = all, x.last
		} else {
			copy(room(&x.last, len(all)), all)
		}
	}
}
