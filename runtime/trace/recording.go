package trace

// This file defines Recording, the result of a Recorder, and its form as bytes, in which ranks send
// it to rank 0.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// Recording is what one rank recorded.
type Recording struct {
	Rank   int
	Epoch  int64 // wall clock of time 0, Unix nanoseconds
	Offset int64 // added to this rank's clock gives that of rank 0; 0 until measured
	Names  []string
	Tracks []TrackRecording
	Loops  []LoopRecord // in the order of their ends
}

// TrackRecording is one line of a recording.
type TrackRecording struct {
	Name     string
	Worker   bool // else communication
	Counters Counters
	slabs    [][]Event
}

// Events yields the events in the order in which they were added. The pointer is valid until the
// next one.
func (t *TrackRecording) Events() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for _, s := range t.slabs {
			for i := range s {
				if !yield(&s[i]) {
					return
				}
			}
		}
	}
}

// Len returns the number of events kept.
func (t *TrackRecording) Len() int {
	n := 0
	for _, s := range t.slabs {
		n += len(s)
	}
	return n
}

// name is the name of an event; a recording from elsewhere may lack it.
func (r *Recording) name(id int32) string {
	if id < 0 || int(id) >= len(r.Names) {
		return fmt.Sprintf("name %d", id)
	}
	return r.Names[id]
}

// origin is time 0 on the clock of rank 0, Unix nanoseconds.
func (r *Recording) origin() int64 { return r.Epoch + r.Offset }

// magic begins a recording as bytes; its digit is the version of the format.
const magic = "flowtrace2"

// AppendBinary appends r as bytes: varints, times as differences to the event before, about ten
// bytes an event.
func (r *Recording) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, magic...)
	for _, v := range []int64{int64(r.Rank), r.Epoch, r.Offset, int64(len(r.Names))} {
		b = binary.AppendVarint(b, v)
	}
	for _, n := range r.Names {
		b = appendString(b, n)
	}
	b = binary.AppendVarint(b, int64(len(r.Tracks)))
	for i := range r.Tracks {
		t := &r.Tracks[i]
		b = appendString(b, t.Name)
		worker := int64(0)
		if t.Worker {
			worker = 1
		}
		b = binary.AppendVarint(b, worker)
		c := t.Counters
		for _, f := range c.fields() {
			b = binary.AppendVarint(b, *f)
		}
		b = binary.AppendVarint(b, int64(t.Len()))
		last := int64(0)
		for e := range t.Events() {
			b = append(b, byte(e.Kind))
			b = binary.AppendVarint(b, e.Start-last)
			b = binary.AppendVarint(b, e.End-e.Start)
			b = binary.AppendVarint(b, int64(e.ID))
			b = binary.AppendVarint(b, int64(e.Name))
			if e.Kind == Send || e.Kind == Receive {
				b = binary.AppendVarint(b, int64(e.Peer))
				b = binary.AppendVarint(b, e.Bytes)
			}
			last = e.End
		}
	}
	return appendLoops(b, r.Loops), nil
}

// MarshalBinary returns r as bytes.
func (r *Recording) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// fields lists the counters in the order of the byte format.
func (c *Counters) fields() []*int64 {
	return []*int64{&c.Tasks, &c.Busy, &c.Waiting, &c.Communicating, &c.Sent, &c.Received, &c.BytesSent, &c.BytesReceived, &c.First, &c.Last, &c.Dropped}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

var errFormat = errors.New("trace: not a recording of this version, or a damaged one")

// UnmarshalBinary makes r the recording in b. It keeps nothing of b, and fails for malformed bytes.
func (r *Recording) UnmarshalBinary(b []byte) error {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return errFormat
	}
	d := decoder{rest: b[len(magic):]}
	*r = Recording{Rank: int(d.int()), Epoch: d.int(), Offset: d.int()}
	for range d.count(1) {
		r.Names = append(r.Names, d.string())
	}
	for range d.count(14) {
		t := TrackRecording{Name: d.string(), Worker: d.int() == 1}
		for _, f := range t.Counters.fields() {
			*f = d.int()
		}
		events := make([]Event, 0, d.count(5))
		last := int64(0)
		for range cap(events) {
			e := Event{Kind: d.kind()}
			e.Start = last + d.int()
			e.End = e.Start + d.int()
			e.ID, e.Name = int32(d.int()), int32(d.int())
			if e.Kind == Send || e.Kind == Receive {
				e.Peer, e.Bytes = int32(d.int()), d.int()
			}
			last = e.End
			if d.bad {
				return errFormat
			}
			events = append(events, e)
		}
		if len(events) > 0 {
			t.slabs = [][]Event{events}
		}
		r.Tracks = append(r.Tracks, t)
	}
	r.Loops = d.loops()
	if d.bad || len(d.rest) != 0 {
		return errFormat
	}
	return nil
}

// decoder reads the byte format; after damage it returns zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads a number of things of at least size bytes each, so that damage cannot ask for much
// memory.
func (d *decoder) count(size int) int {
	n := d.int()
	if n < 0 || n > int64(len(d.rest)/size) {
		d.bad, d.rest = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count(1)
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) kind() Kind {
	if len(d.rest) == 0 || Kind(d.rest[0]) >= kinds {
		d.bad, d.rest = true, nil
		return 0
	}
	k := Kind(d.rest[0])
	d.rest = d.rest[1:]
	return k
}
