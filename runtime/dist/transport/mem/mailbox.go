package mem

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"flow/runtime/dist/transport"
)

// A streamKey names the messages, at one destination, that keep their order.
type streamKey struct {
	src int
	ch  transport.Channel
	tag int
}

// A stream holds what has not met yet: at most one of posted and arrived has
// something that could match now, because every call that adds one tries to.
type stream struct {
	posted  []*op      // receives without a message
	arrived []*message // messages without a receive, some perhaps not ready yet
	seq     uint64     // messages so far
	ready   time.Time  // when the last of them was, or will be, ready
}

// A message is on its way or waiting at its destination.
type message struct {
	key   streamKey
	data  []byte
	from  *op // the send that waits for the copy; nil if data was buffered
	ready time.Time
	lost  bool
	gone  bool // received or withdrawn; still in arrivals until the next sweep
}

// A mailbox is one rank's receiving side. Its mutex also covers the copy into the
// receiver's buffer, so that a receive can be withdrawn without a race.
type mailbox struct {
	mu       sync.Mutex
	dead     bool
	streams  map[streamKey]*stream
	arrivals [transport.NumChannels][]*message // in order of arrival, for TryRecv
}

type opKind uint8

const (
	sending opKind = iota
	receiving
)

// An op is one transfer's end. done is set once, after err, and publishes it.
type op struct {
	kind opKind
	ch   transport.Channel
	me   int
	peer int
	tag  int
	buf  []byte
	msg  *message // of a send that waits

	size   int           // bytes of the payload
	placed bool          // a placed receive
	place  func() []byte // of a placed receive without memory yet
	got    *int          // the bytes received by an IrecvSome; nil: of another receive
	err    error
	done   atomic.Bool
}

func (o *op) finish(err error) {
	o.err = err
	o.buf, o.msg, o.place = nil, nil, nil
	o.done.Store(true)
}

func (b *mailbox) stream(k streamKey) *stream {
	s := b.streams[k]
	if s == nil {
		s = new(stream)
		b.streams[k] = s
	}
	return s
}

// deliver brings a send to the mailbox of its destination.
func (g *Group) deliver(src, dst int, o *op) {
	b, k := &g.boxes[dst], streamKey{src, o.ch, o.tag}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return // never finishes by itself; fails once the death is known
	}
	s := b.stream(k)
	delay, lost := g.opts.Faults.fate(k, dst, s.seq)
	s.seq++
	m := &message{key: k, data: o.buf, from: o, lost: lost}
	if delay > 0 || !s.ready.IsZero() {
		if m.ready = now().Add(delay); m.ready.Before(s.ready) {
			m.ready = s.ready
		}
		s.ready = m.ready
	}
	o.msg = m
	s.arrived = append(s.arrived, m)
	b.arrivals[o.ch] = append(b.arrivals[o.ch], m)
	b.match(s)
	if m.gone {
		return
	}
	if len(m.data) <= g.opts.EagerLimit || lost {
		if !lost {
			m.data = append([]byte(nil), m.data...)
		}
		m.from = nil
		o.finish(nil)
	}
}

// waitsForTime reports whether a message is held back until a time that has not come.
func (b *mailbox) waitsForTime() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.streams {
		for _, m := range s.arrived {
			if !m.gone && !m.isReady() {
				return true
			}
		}
	}
	return false
}

// post adds a receive.
func (b *mailbox) post(src int, o *op) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stream(streamKey{src, o.ch, o.tag})
	s.posted = append(s.posted, o)
	b.match(s)
}

// progress matches a stream whose messages may have become ready, or whose next receive has still
// to be placed. It is called by Testsome, alone.
func (b *mailbox) progress(k streamKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[k]
	if s == nil {
		return
	}
	for b.match(s); b.supply(s); b.match(s) {
	}
}

// supply asks the next receive for its memory if its message is there. b.mu is held.
func (b *mailbox) supply(s *stream) bool {
	if len(s.posted) == 0 || len(s.arrived) == 0 || s.posted[0].place == nil || !s.arrived[0].isReady() {
		return false
	}
	o := s.posted[0]
	buf := o.place()
	if buf == nil {
		return false
	}
	if len(buf) != o.size {
		panic(fmt.Sprintf("BUG: a receive of %d bytes was given %d", o.size, len(buf)))
	}
	o.buf, o.place = buf, nil
	return true
}

// match pairs the stream's receives with its ready messages. b.mu is held.
func (b *mailbox) match(s *stream) {
	for len(s.posted) > 0 && len(s.arrived) > 0 {
		m := s.arrived[0] // never gone: take trims the front
		if !m.isReady() {
			return
		}
		o := s.posted[0]
		var err error
		switch {
		case m.lost:
			err = transport.ErrLost
		case o.got == nil && len(m.data) != o.size, o.got != nil && (len(m.data) == 0 || len(m.data) > o.size):
			err = &transport.SizeError{Want: uint64(o.size), Got: uint64(len(m.data))}
		case o.place != nil:
			return
		default:
			if copy(o.buf, m.data); o.got != nil {
				*o.got = len(m.data)
			}
		}
		s.posted = s.posted[1:]
		o.finish(err)
		b.take(m)
	}
}

func (m *message) isReady() bool { return m.ready.IsZero() || m.isReadyAt(now()) }

func (m *message) isReadyAt(at time.Time) bool { return !at.Before(m.ready) }

// take removes a message that has met its receiver. b.mu is held.
func (b *mailbox) take(m *message) {
	m.gone = true
	m.data = nil
	s := b.streams[m.key]
	for len(s.arrived) > 0 && s.arrived[0].gone {
		s.arrived[0] = nil
		s.arrived = s.arrived[1:]
	}
	if m.from != nil {
		m.from.finish(nil)
		m.from = nil
	}
	b.sweep(m.key.ch)
}

// sweep drops what is gone: always at the front, and everywhere when the list has
// become long, which keeps the cost per message constant.
func (b *mailbox) sweep(ch transport.Channel) {
	list := b.arrivals[ch]
	for len(list) > 0 && list[0].gone {
		list[0] = nil
		list = list[1:]
	}
	if len(list) > 64 && len(list) == cap(list) {
		kept := list[:0:0]
		for _, m := range list {
			if !m.gone {
				kept = append(kept, m)
			}
		}
		list = kept
	}
	b.arrivals[ch] = list
}

// tryRecv takes the first ready message of the channel.
func (b *mailbox) tryRecv(ch transport.Channel) (m transport.Message, lost, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Within a stream, ready times do not decrease, so the first that is ready is
	// also the first of its stream, if all are asked about the same moment.
	at := now()
	for _, a := range b.arrivals[ch] {
		if a.gone || !a.isReadyAt(at) {
			continue
		}
		m = transport.Message{Src: a.key.src, Tag: a.key.tag, Payload: a.data}
		if a.from != nil { // not buffered: this is the one copy
			m.Payload = append([]byte(nil), a.data...)
		}
		b.take(a)
		return m, a.lost, true
	}
	return m, false, false
}

// withdraw takes an unfinished op out of the mailbox that it waits in, so that no
// other rank touches its buffer any more, and finishes it with err unless that is
// nil. It does nothing if the op has finished.
func (g *Group) withdraw(o *op, err error) {
	dst := o.peer
	if o.kind == receiving {
		dst = o.me
	}
	b := &g.boxes[dst]
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.done.Load() {
		return
	}
	if o.kind == sending {
		if m := o.msg; m != nil && !m.gone {
			m.from = nil
			b.take(m)
		}
	} else if s := b.streams[streamKey{o.peer, o.ch, o.tag}]; s != nil {
		s.posted = slices.DeleteFunc(s.posted, func(p *op) bool { return p == o })
	}
	if err != nil {
		o.finish(err)
	}
}
