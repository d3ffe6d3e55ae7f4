package dist

// This file sends the messages of ranks that help each other with a loop: a request for iterations,
// the answer, the rows that were made, and how long a rank's rows took. They go over Control and are
// copied.

import (
	"encoding/binary"
	"fmt"
	"math"

	"flow/runtime/local"
)

// help is one such message. Its encoding has a fixed header. Behind it are the iterations of an answer,
// and then the rows of an answer or of a return.
type help struct {
	what    helpKind
	made    bool // of a return: the iterations did not fail
	ask     local.Ask
	gift    local.Gift // of an answer
	chunk   local.Chunk
	seconds float64
	data    []byte
}

// helpKind is the kind of a message about help.
type helpKind uint8

const (
	asks helpKind = iota
	gives
	returns
	tells
)

// helpHeader is the length of the header, which begins with the epoch, and lentBytes of each range of
// iterations of an answer.
const (
	helpHeader = 8 + 1 + 1 + 3*4 + 2*8 + 8 + 2*(4+8) + 4 + 4
	lentBytes  = 4 + 2*8
)

// putHelp encodes a message about help.
func putHelp(epoch uint64, h help) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, helpHeader+len(h.data)+len(h.gift.Lent)*lentBytes+len(h.gift.Rows))
	b = append(le.AppendUint64(b, epoch), byte(h.what), 0)
	for k, is := range []bool{h.made, h.gift.Moved, h.gift.Later} {
		if is {
			b[len(b)-1] |= 1 << k
		}
	}
	for _, x := range []int32{int32(h.ask.Rank), h.ask.Loop, h.ask.Execution} {
		b = le.AppendUint32(b, uint32(x))
	}
	b = le.AppendUint64(b, uint64(h.chunk.Lo))
	b = le.AppendUint64(b, uint64(h.chunk.Hi))
	b = le.AppendUint64(b, math.Float64bits(h.seconds))
	for _, x := range h.gift.Hints {
		b = le.AppendUint64(le.AppendUint32(b, uint32(x.Rank)), math.Float64bits(x.Left))
	}
	b = le.AppendUint32(b, uint32(h.gift.Begun))
	b = le.AppendUint32(b, uint32(len(h.gift.Lent)))
	for _, x := range h.gift.Lent {
		b = le.AppendUint32(b, uint32(x.Home))
		b = le.AppendUint64(le.AppendUint64(b, uint64(x.Lo)), uint64(x.Hi))
	}
	return append(append(b, h.gift.Rows...), h.data...)
}

// getHelp decodes a message about help.
func getHelp(b []byte) (epoch uint64, h help, err error) {
	le := binary.LittleEndian
	if len(b) < helpHeader || helpKind(b[8]) > tells || uint64(le.Uint32(b[helpHeader-4:]))*lentBytes > uint64(len(b)-helpHeader) {
		return 0, h, fmt.Errorf("BUG: %d bytes arrived that are no help with a loop", len(b))
	}
	word := func(at int) int32 { return int32(le.Uint32(b[at:])) }
	long := func(at int) int { return int(le.Uint64(b[at:])) }
	h.what = helpKind(b[8])
	h.made, h.gift.Moved, h.gift.Later = b[9]&1 != 0, b[9]&2 != 0, b[9]&4 != 0
	h.ask = local.Ask{Rank: int(word(10)), Loop: word(14), Execution: word(18)}
	h.chunk = local.Chunk{Lo: long(22), Hi: long(30)}
	h.seconds = math.Float64frombits(le.Uint64(b[38:]))
	for k := range h.gift.Hints {
		x := &h.gift.Hints[k]
		x.Rank, x.Left = word(46+12*k), math.Float64frombits(le.Uint64(b[50+12*k:]))
	}
	h.gift.Begun = word(helpHeader - 8)
	at := helpHeader
	for range word(helpHeader - 4) {
		h.gift.Lent = append(h.gift.Lent, local.Lent{Home: int(word(at)), Chunk: local.Chunk{Lo: long(at + 4), Hi: long(at + 12)}})
		at += lentBytes
	}
	if h.data = b[at:]; h.what == gives {
		h.gift.Rows, h.data = h.data, nil
	}
	return le.Uint64(b), h, nil
}

// sendHelp starts a message about help. After the freeze it sends none: then the other rank learns by
// a drain that it need not wait (local.Engine.Gone).
func (r *rank) sendHelp(to int, h help) {
	r.signal(to, tagHelp, putHelp(r.epoch, h), h.what != tells)
}

// ask, give and giveBack are those of local.Remote.
func (r *rank) ask(to int, a local.Ask) { r.sendHelp(to, help{what: asks, ask: a}) }

func (r *rank) give(a local.Ask, g local.Gift) {
	r.sendHelp(a.Rank, help{what: gives, ask: a, gift: g})
}

func (r *rank) giveBack(to int, a local.Ask, chunk local.Chunk, made []byte, seconds float64) {
	r.sendHelp(to, help{what: returns, ask: a, chunk: chunk, made: made != nil, data: made, seconds: seconds})
}

// tellTimes is local.Remote.Tell.
func (r *rank) tellTimes(to int, a local.Ask, totals []float64) {
	var b []byte
	for _, x := range totals {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	r.sendHelp(to, help{what: tells, ask: a, data: b})
}

// helped handles a message about help. One that names what cannot be ends the run, with a sentence.
// pollMu is held.
func (r *rank) helped(from int, payload []byte) {
	epoch, h, err := getHelp(payload)
	switch {
	case err != nil:
	case epoch != r.epoch || r.ending.frozen.Load():
	case h.what == asks:
		err = r.eng.Asked(from, h.ask)
	case h.what == gives:
		err = r.eng.Given(from, h.ask, h.gift)
	case h.what == tells:
		totals := make([]float64, len(h.data)/8)
		for i := range totals {
			totals[i] = math.Float64frombits(binary.LittleEndian.Uint64(h.data[8*i:]))
		}
		err = r.eng.Told(from, h.ask, totals)
	case h.made:
		err = r.eng.Returned(from, h.ask, h.chunk, h.data, h.seconds)
	default:
		err = r.eng.Returned(from, h.ask, h.chunk, nil, h.seconds)
	}
	if err != nil {
		r.broken(fmt.Errorf("a message about help with a loop: %w", err))
	}
}
