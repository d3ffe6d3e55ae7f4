package trace

// This file writes the communication of a rank: one row for what it sends and one for what it
// receives. Messages overlap in time, and a viewer draws the events of a row correctly only if they
// nest, so overlapping messages are drawn as one event.

import (
	"cmp"
	"slices"
	"strconv"
)

// burst is messages of one direction that overlap in time.
type burst struct {
	events     []*Event // by their start
	start, end int64
	bytes      int64
}

// bursts returns the events of a track for which is holds, by their start, those that overlap
// together.
func (t *TrackRecording) bursts(is func(Kind) bool) (out []burst) {
	var events []*Event
	for e := range t.Events() {
		if is(e.Kind) {
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b *Event) int { return cmp.Compare(a.Start, b.Start) })
	for _, e := range events {
		if n := len(out); n == 0 || out[n-1].end <= e.Start {
			out = append(out, burst{start: e.Start})
		}
		b := &out[len(out)-1]
		b.events, b.end, b.bytes = append(b.events, e), max(b.end, e.End), b.bytes+e.Bytes
	}
	return out
}

// messages writes the rows of a communication track from row tid on, and returns how many there
// are: those that have an event.
func (c *chromeWriter) messages(r *Recording, t *TrackRecording, tid int, name func(*Event) []byte) (rows int) {
	for _, way := range []struct {
		label string
		is    func(Kind) bool
	}{
		{t.Name + ": sends", func(k Kind) bool { return k != Receive }},
		{t.Name + ": receives", func(k Kind) bool { return k == Receive }},
	} {
		all := t.bursts(way.is)
		if len(all) == 0 {
			continue
		}
		c.meta("thread_name", "name", r.Rank, tid+rows, way.label)
		for _, b := range all {
			if len(b.events) == 1 {
				c.event(r, tid+rows, b.events[0], name(b.events[0]))
				continue
			}
			c.burst(r, tid+rows, &b)
			for _, e := range b.events {
				if e.Kind == Send || e.Kind == Receive {
					c.arrow(r, tid+rows, e, r.origin()-c.base+e.Start)
				}
			}
		}
		rows++
	}
	return rows
}

// burst writes several messages as one event.
func (c *chromeWriter) burst(r *Recording, tid int, b *burst) {
	c.begin()
	line := append(c.line, `{"ph":"X","name":`...)
	line = append(line, quote(strconv.Itoa(len(b.events))+" messages")...)
	line = append(line, `,"cat":"`...)
	line = append(line, b.events[0].Kind.String()...)
	line = append(line, `","ts":`...)
	line = appendMicros(line, r.origin()-c.base+b.start)
	line = append(line, `,"dur":`...)
	line = appendMicros(line, b.end-b.start)
	line = appendPlace(line, r.Rank, tid)
	line = append(line, `,"args":{"messages":`...)
	line = strconv.AppendInt(line, int64(len(b.events)), 10)
	line = append(line, `,"bytes":`...)
	line = strconv.AppendInt(line, b.bytes, 10)
	c.end(append(line, "}}"...))
}
