package trace

// This file defines WriteChrome: recordings as Chrome trace event JSON, which Perfetto and
// chrome://tracing open. One process a rank, one thread a worker, two for communication
// (chrome_messages.go), an arrow for each message whose both ends were recorded.

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strconv"
)

// NameKey is the key of an Arg that is the name of the event in a viewer. The name that was
// recorded is then the argument kernel.
const NameKey = "name"

// Arg explains an event in the exported trace: a loop index, the source line.
type Arg struct {
	Key    string
	Number int64
	Text   string // used if not empty, else Number
}

// Describe returns details of an event, such as its loop indices. The slice may be reused by the
// next call. It is called for every event of the given rank.
type Describe func(rank int, e *Event) []Arg

// messageKey names the messages of one edge between two ranks.
type messageKey struct{ from, to, edge int32 }

// chromeWriter formats events one by one into a reused buffer. Only messages are sorted, so only
// they need memory.
type chromeWriter struct {
	out      *bufio.Writer
	line     []byte
	any      bool
	describe Describe
	base     int64
	serial   [2]map[messageKey]int32 // sends and receives seen so far
}

// WriteChrome writes the recordings as one JSON object, times on the clock of rank 0, beginning
// with the earliest recorder. Describe may be nil. Nil recordings are skipped.
func WriteChrome(w io.Writer, describe Describe, recordings ...*Recording) error {
	c := &chromeWriter{out: bufio.NewWriterSize(w, 1<<16), describe: describe, serial: [2]map[messageKey]int32{{}, {}}}
	first := true
	for _, r := range recordings {
		if r != nil && (first || r.origin() < c.base) {
			c.base, first = r.origin(), false
		}
	}
	// The events come first: Perfetto ignores everything after a key that it does not know.
	c.out.WriteString(`{"traceEvents":[`)
	for _, r := range recordings {
		if r != nil {
			c.recording(r)
		}
	}
	c.out.WriteString("\n],\n" + `"displayTimeUnit":"ns"`)
	if slices.ContainsFunc(recordings, func(r *Recording) bool { return r != nil && len(r.Loops) > 0 }) {
		c.out.WriteString(`,"` + loopsKey + `":[`)
		c.any = false
		for _, r := range recordings {
			if r != nil {
				c.loops(r)
			}
		}
		c.out.WriteString("\n]")
	}
	c.out.WriteString("}\n")
	return c.out.Flush() // a bufio.Writer keeps its first error
}

func (c *chromeWriter) recording(r *Recording) {
	c.meta("process_name", "name", r.Rank, 0, "rank "+strconv.Itoa(r.Rank))
	// a viewer draws labels beside the process's name
	if s := Summarise(r); s.Communication > 0 {
		c.meta("process_labels", "labels", r.Rank, 0, strconv.Itoa(int(100*s.HiddenShare()+0.5))+" % of the communication time hidden behind tasks")
	}
	names := make([][]byte, len(r.Names))
	for i, n := range r.Names {
		names[i] = quote(n)
	}
	name := func(e *Event) []byte {
		if e.Name >= 0 && int(e.Name) < len(names) {
			return names[e.Name]
		}
		return quote(r.name(e.Name))
	}
	tid := 0
	for i := range r.Tracks {
		t := &r.Tracks[i]
		if t.Worker {
			c.meta("thread_name", "name", r.Rank, tid, t.Name)
			for e := range t.Events() {
				c.event(r, tid, e, name(e))
			}
			c.chunks(r, tid)
			tid++
			continue
		}
		tid += c.messages(r, t, tid, name)
	}
}

func (c *chromeWriter) event(r *Recording, tid int, e *Event, name []byte) {
	start := r.origin() - c.base + e.Start
	var args []Arg
	if c.describe != nil {
		args = c.describe(r.Rank, e)
	}
	kernel := []byte(nil)
	for _, a := range args {
		if a.Key == NameKey {
			name, kernel = quote(a.Text), name
		}
	}
	c.begin()
	b := append(c.line, `{"ph":"X","name":`...)
	b = append(b, name...)
	b = append(b, `,"cat":"`...)
	b = append(b, e.Kind.String()...)
	b = append(b, `","ts":`...)
	b = appendMicros(b, start)
	b = append(b, `,"dur":`...)
	b = appendMicros(b, e.End-e.Start)
	b = appendPlace(b, r.Rank, tid)
	b = append(b, `,"args":{"id":`...)
	b = strconv.AppendInt(b, int64(e.ID), 10)
	message := e.Kind == Send || e.Kind == Receive
	if message {
		b = append(b, `,"peer":`...)
		b = strconv.AppendInt(b, int64(e.Peer), 10)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, e.Bytes, 10)
	}
	if kernel != nil {
		b = append(b, `,"kernel":`...)
		b = append(b, kernel...)
	}
	for _, a := range args {
		if a.Key == NameKey {
			continue
		}
		b = append(b, ',')
		b = append(b, quote(a.Key)...)
		b = append(b, ':')
		if a.Text != "" {
			b = append(b, quote(a.Text)...)
		} else {
			b = strconv.AppendInt(b, a.Number, 10)
		}
	}
	c.end(append(b, "}}"...))
	if message {
		c.arrow(r, tid, e, start)
	}
}

// chunks writes those that the worker of a thread executed. A viewer draws them inside the worker's
// share of the loop.
func (c *chromeWriter) chunks(r *Recording, tid int) {
	for i := range r.Loops {
		l := &r.Loops[i]
		for k := range l.Chunks {
			x := &l.Chunks[k]
			if int(x.Worker) != tid {
				continue
			}
			c.begin()
			b := append(c.line, `{"ph":"X","name":"chunk","cat":"chunk","ts":`...)
			b = appendMicros(b, r.origin()-c.base+x.Start)
			b = append(b, `,"dur":`...)
			b = appendMicros(b, x.End-x.Start)
			b = appendPlace(b, r.Rank, tid)
			b = append(b, `,"args":{"id":`...)
			b = strconv.AppendInt(b, int64(l.Node), 10)
			b = append(b, `,"lo":`...)
			b = strconv.AppendInt(b, x.Lo, 10)
			b = append(b, `,"hi":`...)
			b = strconv.AppendInt(b, x.Hi, 10)
			b = append(b, `,"technique":`...)
			b = append(b, quote(l.Technique)...)
			c.end(append(b, "}}"...))
		}
	}
}

// arrow writes one end of a message's arrow. Both ends name it by ranks, edge and how many of that
// edge came before, as messages of one edge are ordered. So no table of messages is needed, and an
// end without the other is not drawn.
func (c *chromeWriter) arrow(r *Recording, tid int, e *Event, start int64) {
	key, side, at := messageKey{int32(r.Rank), e.Peer, e.ID}, 0, start
	if e.Kind == Receive {
		// The arrow ends where the message has arrived, and still inside the event that it
		// is to touch.
		key, side, at = messageKey{e.Peer, int32(r.Rank), e.ID}, 1, start+max(e.End-e.Start-1, 0)
	}
	n := c.serial[side][key]
	c.serial[side][key] = n + 1
	c.begin()
	b := c.line
	if side == 0 {
		b = append(b, `{"ph":"s"`...)
	} else {
		b = append(b, `{"ph":"f","bp":"e"`...)
	}
	b = append(b, `,"name":"message","cat":"message","id":"`...)
	for i, v := range []int32{key.from, key.to, key.edge, n} {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	b = append(b, `","ts":`...)
	b = appendMicros(b, at)
	b = appendPlace(b, r.Rank, tid)
	c.end(append(b, '}'))
}

// meta writes metadata of a process or thread: what it is, and its argument key.
func (c *chromeWriter) meta(what, key string, pid, tid int, text string) {
	c.begin()
	b := append(c.line, `{"ph":"M","name":"`...)
	b = append(b, what...)
	b = append(b, '"')
	b = appendPlace(b, pid, tid)
	b = append(b, `,"args":{"`...)
	b = append(b, key...)
	b = append(b, `":`...)
	b = append(b, quote(text)...)
	c.end(append(b, "}}"...))
}

func (c *chromeWriter) begin() {
	if c.any {
		c.out.WriteByte(',')
	}
	c.out.WriteByte('\n')
	c.any = true
}

func (c *chromeWriter) end(b []byte) {
	c.out.Write(b)
	c.line = b[:0]
}

// appendPlace appends the process and thread of an event.
func appendPlace(b []byte, pid, tid int) []byte {
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(pid), 10)
	b = append(b, `,"tid":`...)
	return strconv.AppendInt(b, int64(tid), 10)
}

// appendMicros appends ns in microseconds, the unit of the format, without losing the nanoseconds.
func appendMicros(b []byte, ns int64) []byte {
	if ns < 0 {
		b = append(b, '-')
		ns = -ns
	}
	b = strconv.AppendInt(b, ns/1000, 10)
	return append(b, '.', byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
}

// quote returns s as a JSON string. Marshal of a string cannot fail.
func quote(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}
