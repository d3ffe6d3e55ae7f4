package trace

// This file stores loops in a trace file beside its events, under a key that viewers ignore, exact
// and complete, so that a loop can be simulated from the file.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// loopsKey is that key. It comes after the events, see WriteChrome.
const loopsKey = "flowLoops"

// loopHead is a LoopRecord in the file, less its chunks. Times are nanoseconds on the clock of the
// file.
type loopHead struct {
	Rank      int    `json:"rank"`
	Node      int32  `json:"node"`
	Round     int32  `json:"round"`
	Op        string `json:"op"`
	Where     string `json:"where,omitempty"`
	N         int64  `json:"n"`
	Leaf      int64  `json:"leaf"`
	MinChunk  int64  `json:"min_chunk"`
	Technique string `json:"technique"`
	Chosen    bool   `json:"chosen,omitempty"`
	Layout    string `json:"layout"`
	Victim    string `json:"victim"`
	Workers   int32  `json:"workers"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
	Failed    bool   `json:"failed,omitempty"`
}

// loopLine is a loop in the file. A chunk is [lo, hi, worker, asked, start, end, stolen]; its times
// count from the loop's start.
type loopLine struct {
	loopHead
	Chunks [][7]int64 `json:"chunks"`
}

// loops writes the loops of a recording.
func (c *chromeWriter) loops(r *Recording) {
	at := r.origin() - c.base
	for i := range r.Loops {
		l := &r.Loops[i]
		head, _ := json.Marshal(loopHead{r.Rank, l.Node, l.Round, l.Op, l.Where, l.N, l.Leaf, l.MinChunk, l.Technique, l.Chosen, l.Layout,
			// numbers, strings and bools cannot fail
			l.Victim, l.Workers, l.Start + at, l.End + at, l.Failed})
		c.begin()
		b := append(c.line, head[:len(head)-1]...)
		b = append(b, `,"chunks":[`...)
		for k := range l.Chunks {
			if k > 0 {
				b = append(b, ',')
			}
			x := &l.Chunks[k]
			for j, v := range [7]int64{x.Lo, x.Hi, int64(x.Worker), x.Asked - l.Start, x.Start - l.Start, x.End - l.Start, bit(x.Stolen)} {
				b = append(b, "[,,,,,,"[j])
				b = strconv.AppendInt(b, v, 10)
			}
			b = append(b, ']')
			if len(b) > 1<<16 {
				c.out.Write(b)
				b = b[:0]
			}
		}
		c.end(append(b, "]}"...))
	}
}

// ErrNoLoops is the error of a trace without loops, or of a JSON file that is no trace of this
// program.
var ErrNoLoops = errors.New("it has no loops")

// ReadLoops reads the loops of a file that WriteChrome wrote, by rank; the recordings have nothing
// else. It skips events one by one and stops after the loops. The error says what is wrong with the
// file.
func ReadLoops(r io.Reader) ([]*Recording, error) {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("it is not a JSON object: %w", damage(err))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, damage(err)
		}
		switch key {
		case loopsKey:
			return readLoops(d)
		case "traceEvents":
			if err := skipArray(d); err != nil {
				return nil, damage(err)
			}
			continue
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return nil, damage(err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, damage(err)
	}
	return nil, ErrNoLoops
}

// skipArray skips an array without storing it.
func skipArray(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		// nil: a value of another kind was skipped; after an object the next key is missing
		return err
	}
	var element json.RawMessage
	for d.More() {
		if err := d.Decode(&element); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// readLoops reads the array.
func readLoops(d *json.Decoder) ([]*Recording, error) {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, fmt.Errorf("%s is not a list: %w", loopsKey, damage(err))
	}
	var out []*Recording
	for i := 0; d.More(); i++ {
		var line loopLine
		if err := d.Decode(&line); err != nil {
			return nil, fmt.Errorf("loop %d: %w", i, damage(err))
		}
		l, err := line.record()
		if err != nil {
			return nil, fmt.Errorf("loop %d: %w", i, err)
		}
		for len(out) <= line.Rank {
			out = append(out, &Recording{Rank: len(out)})
		}
		out[line.Rank].Loops = append(out[line.Rank].Loops, *l)
	}
	if _, err := d.Token(); err != nil {
		return nil, damage(err)
	}
	if len(out) == 0 {
		return nil, ErrNoLoops
	}
	return out, nil
}

// maxRanks is more ranks than a file can have: a damaged number must not allocate memory.
const maxRanks = 1 << 20

// record checks what a reader of records relies on.
func (l *loopLine) record() (*LoopRecord, error) {
	h := &l.loopHead
	switch {
	case h.Rank < 0 || h.Rank >= maxRanks:
		return nil, fmt.Errorf("there is no rank %d", h.Rank)
	case h.Workers < 1 || h.Workers > maxRanks:
		return nil, fmt.Errorf("it had %d workers", h.Workers)
	case h.N < 0 || h.Leaf < 1:
		return nil, fmt.Errorf("it has %d iterations in leaves of %d", h.N, h.Leaf)
	case h.End < h.Start:
		return nil, errors.New("it ends before it begins")
	}
	r := &LoopRecord{Node: h.Node, Round: h.Round, Op: h.Op, Where: h.Where, N: h.N, Leaf: h.Leaf, MinChunk: h.MinChunk, Technique: h.Technique,
		Chosen: h.Chosen, Layout: h.Layout, Victim: h.Victim, Workers: h.Workers, Start: h.Start, End: h.End, Failed: h.Failed}
	covered := int64(0)
	for k, v := range l.Chunks {
		x := Chunk{Lo: v[0], Hi: v[1], Worker: int32(v[2]), Asked: h.Start + v[3], Start: h.Start + v[4], End: h.Start + v[5], Stolen: v[6] != 0}
		switch {
		case x.Lo < 0 || x.Hi <= x.Lo || x.Hi > h.N:
			return nil, fmt.Errorf("chunk %d is of iterations %d to %d of %d", k, x.Lo, x.Hi, h.N)
		case v[2] < Elsewhere || v[2] >= int64(h.Workers):
			return nil, fmt.Errorf("chunk %d is of worker %d of %d", k, v[2], h.Workers)
		case x.Start < x.Asked || x.End < x.Start || x.Asked < h.Start:
			return nil, fmt.Errorf("chunk %d ends before it begins", k)
		}
		covered += x.Hi - x.Lo
		r.Chunks = append(r.Chunks, x)
	}
	if covered != h.N && !h.Failed {
		return nil, fmt.Errorf("its chunks have %d of %d iterations", covered, h.N)
	}
	return r, nil
}

// damage describes an error in JSON briefly; nil and io.EOF mean that something is missing.
func damage(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return errors.New("something else stands there")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in the middle")
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return err
}
