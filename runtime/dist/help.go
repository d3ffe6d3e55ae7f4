package dist

// This file sends the messages of ranks that help each other with a loop: a request for a chunk, the
// answer, and the rows that were made. All three go over Control and are copied.

import (
	"encoding/binary"
	"fmt"

	"flow/runtime/local"
)

// help is one of the three. Its encoding has a fixed header, with the rows behind it.
type help struct {
	what  helpKind
	made  bool // of a return: the chunk did not fail
	ask   local.Ask
	chunk local.Chunk
	data  []byte
}

// helpKind is the kind of a message about help.
type helpKind uint8

const (
	asks helpKind = iota
	gives
	returns
)

// helpHeader is the length of the header, which begins with the epoch.
const helpHeader = 8 + 1 + 1 + 4*4 + 2*8

// putHelp encodes a message about help.
func putHelp(epoch uint64, h help) []byte {
	b := make([]byte, 0, helpHeader+len(h.data))
	b = binary.LittleEndian.AppendUint64(b, epoch)
	b = append(b, byte(h.what), 0)
	if h.made {
		b[len(b)-1] = 1
	}
	for _, x := range []int32{int32(h.ask.Rank), h.ask.Worker, h.ask.Loop, h.ask.Execution} {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(h.chunk.Lo))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.chunk.Hi))
	return append(b, h.data...)
}

// getHelp decodes a message about help.
func getHelp(b []byte) (epoch uint64, h help, err error) {
	if len(b) < helpHeader || helpKind(b[8]) > returns {
		return 0, h, fmt.Errorf("BUG: %d bytes arrived that are no help with a loop", len(b))
	}
	word := func(k int) int32 { return int32(binary.LittleEndian.Uint32(b[10+4*k:])) }
	h.what, h.made = helpKind(b[8]), b[9] != 0
	h.ask = local.Ask{Rank: int(word(0)), Worker: word(1), Loop: word(2), Execution: word(3)}
	h.chunk = local.Chunk{Lo: int(binary.LittleEndian.Uint64(b[26:])), Hi: int(binary.LittleEndian.Uint64(b[34:]))}
	h.data = b[helpHeader:]
	return binary.LittleEndian.Uint64(b), h, nil
}

// sendHelp starts a message about help. After the freeze it sends none: then the other rank learns by
// a drain that it need not wait (local.Engine.Gone).
func (r *rank) sendHelp(to int, h help) {
	r.signal(to, tagHelp, putHelp(r.epoch, h))
}

// ask, give and giveBack are those of local.Remote.
func (r *rank) ask(to int, a local.Ask) { r.sendHelp(to, help{what: asks, ask: a}) }

func (r *rank) give(a local.Ask, chunk local.Chunk) {
	r.sendHelp(a.Rank, help{what: gives, ask: a, chunk: chunk})
}

func (r *rank) giveBack(to int, a local.Ask, chunk local.Chunk, made []byte) {
	r.sendHelp(to, help{what: returns, ask: a, chunk: chunk, made: made != nil, data: made})
}

// helped handles a message about help. pollMu is held.
func (r *rank) helped(from int, payload []byte) {
	epoch, h, err := getHelp(payload)
	switch {
	case err != nil:
		r.broken(err)
	case epoch != r.epoch || r.ending.frozen.Load():
	case h.what == asks:
		r.eng.Asked(h.ask)
	case h.what == gives:
		r.eng.Given(from, h.ask, h.chunk)
	case h.made:
		r.eng.Returned(h.ask, h.chunk, h.data)
	default:
		r.eng.Returned(h.ask, h.chunk, nil)
	}
}
