package dist

// This file carries what ranks say to each other when they help with a loop: a question for a chunk,
// the answer, and the rows that were made. All three go over Control and are copied.

import (
	"encoding/binary"
	"fmt"

	"flow/runtime/dist/transport"
	"flow/runtime/local"
)

// help is one of the three. Its parts are fixed, with the rows behind them.
type help struct {
	what helpKind
	made bool // of a return: the chunk did not fail
	ask  local.Ask
	rows local.Rows
	data []byte
}

type helpKind uint8

const (
	asks helpKind = iota
	gives
	returns
)

// helpHeader is the length of the fixed parts, behind the epoch.
const helpHeader = 8 + 1 + 1 + 4*4 + 2*8

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
	b = binary.LittleEndian.AppendUint64(b, uint64(h.rows.Lo))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.rows.Hi))
	return append(b, h.data...)
}

func getHelp(b []byte) (epoch uint64, h help, err error) {
	if len(b) < helpHeader || helpKind(b[8]) > returns {
		return 0, h, fmt.Errorf("BUG: %d bytes arrived that are no help with a loop", len(b))
	}
	word := func(k int) int32 { return int32(binary.LittleEndian.Uint32(b[10+4*k:])) }
	h.what, h.made = helpKind(b[8]), b[9] != 0
	h.ask = local.Ask{Rank: int(word(0)), Worker: word(1), Loop: word(2), Execution: word(3)}
	h.rows = local.Rows{Lo: int(binary.LittleEndian.Uint64(b[26:])), Hi: int(binary.LittleEndian.Uint64(b[34:]))}
	h.data = b[helpHeader:]
	return binary.LittleEndian.Uint64(b), h, nil
}

// sendHelp starts a message about help.
func (r *rank) sendHelp(to int, h help) {
	b := putHelp(r.epoch, h)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.frozen {
		r.track(r.comm.Isend(transport.Control, to, tagHelp, b), flight{kind: control, peer: int32(to), buf: b})
		r.nudge()
	}
}

// ask, give and giveBack are those of local.Remote.
func (r *rank) ask(to int, a local.Ask) { r.sendHelp(to, help{what: asks, ask: a}) }

func (r *rank) give(a local.Ask, rows local.Rows) {
	r.sendHelp(a.Rank, help{what: gives, ask: a, rows: rows})
}

func (r *rank) giveBack(to int, a local.Ask, rows local.Rows, made []byte) {
	r.sendHelp(to, help{what: returns, ask: a, rows: rows, made: made != nil, data: made})
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
		r.eng.Given(from, h.ask, h.rows)
	case h.made:
		r.eng.Returned(h.ask, h.rows, h.data)
	default:
		r.eng.Returned(h.ask, h.rows, nil)
	}
}
