package trace

// This file defines Event and Counters, the two things a track collects.

import "fmt"

// Kind is the kind of an event.
type Kind uint8

const (
	Task Kind = iota // a kernel ran
	// a message was under way to Peer, from the request's start to its completion
	Send
	Receive // a message from Peer was awaited, likewise
	Wait    // a worker waited for something with a name
	// a worker took part in a loop that another worker ends, with its Task event
	Share
	kinds
)

func (k Kind) String() string {
	switch k {
	case Task:
		return "task"
	case Send:
		return "send"
	case Receive:
		return "receive"
	case Wait:
		return "wait"
	case Share:
		return "share"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Event is something that took time. Start and End are nanoseconds since the recorder began.
type Event struct {
	Start, End int64
	Bytes      int64 // of a message
	ID         int32 // task number, or the edge that a message serves
	Name       int32 // from Recorder.Name
	Peer       int32 // rank at the other end of a message
	Kind       Kind
}

// Counters sums up a track. Durations are in nanoseconds and are sums: messages under way at the
// same time count each.
type Counters struct {
	Tasks         int64
	Busy          int64 // in tasks and shares of them
	Waiting       int64 // in waits
	Communicating int64 // in sends and receives
	Sent          int64 // messages
	Received      int64
	BytesSent     int64
	BytesReceived int64
	// time of the first start and the last end; both 0 if there was no event
	First, Last int64
	Dropped     int64 // events that were counted but not kept
}

func (c *Counters) add(e *Event) {
	if c.events() == 0 || e.Start < c.First {
		c.First = e.Start
	}
	c.Last = max(c.Last, e.End)
	d := e.End - e.Start
	switch e.Kind {
	case Task:
		c.Tasks++
		c.Busy += d
	case Send:
		c.Sent++
		c.BytesSent += e.Bytes
		c.Communicating += d
	case Receive:
		c.Received++
		c.BytesReceived += e.Bytes
		c.Communicating += d
	case Wait:
		c.Waiting += d
	case Share:
		c.Busy += d
	}
}

// events reports whether anything has been counted. A wait of zero length at time 0 is nothing.
func (c *Counters) events() int64 { return c.Tasks + c.Busy + c.Sent + c.Received + c.Waiting }

// Plus is the sum of two tracks' counters.
func (c Counters) Plus(o Counters) Counters {
	switch {
	case o.events() == 0:
		o.First = c.First
	case c.events() == 0:
		c.First = o.First
	}
	return Counters{
		Tasks: c.Tasks + o.Tasks, Busy: c.Busy + o.Busy, Waiting: c.Waiting + o.Waiting,
		Communicating: c.Communicating + o.Communicating, Sent: c.Sent + o.Sent, Received: c.Received + o.Received,
		BytesSent: c.BytesSent + o.BytesSent, BytesReceived: c.BytesReceived + o.BytesReceived,
		First: min(c.First, o.First), Last: max(c.Last, o.Last), Dropped: c.Dropped + o.Dropped,
	}
}
