package trace

// This file defines LoopRecord, one execution of a loop and its chunks: the input of statistics,
// sweeps and simulations.

import "encoding/binary"

// LoopRecord is one execution of a loop: a task that several workers ran in chunks. Times are
// nanoseconds on the clock of the events.
//
// The iterations of the index space come in leaves, which no chunk divides: techniques count in
// units of one leaf. A simulation of the same loop under another technique has ceil(N/Leaf)
// iterations.
type LoopRecord struct {
	Node  int32  // task number, as Event.ID
	Round int32  // executions of the same node before this one, in this run
	Op    string // name of the row
	At    int32  // place in the source, as in the plan; 0: unknown
	Where string // file:line:column of the operator, or ""
	// iterations of the index space, and iterations of a leaf (the last may be smaller)
	N, Leaf  int64
	MinChunk int64 // leaves in the smallest allowed chunk; 0: unknown
	// whose chunks these are, by the name of its row; "expr: ..." for an expression
	Technique string
	Chosen    bool   // AUTO chose the technique
	Layout    string // CENTRALIZED, PERGROUP or PERCPU
	Victim    string // SEQ, SEQPRI, RANDOM or RANDOMPRI
	Workers   int32  // that could have taken part
	Start     int64  // when the loop was opened: its result has memory, nothing is computed yet
	End       int64  // its result was complete
	Failed    bool   // ended early: the chunks do not cover it
	Chunks    []Chunk
}

// Chunk is a step of a worker: it asked for iterations, got Lo..Hi-1, and executed them. Chunks of
// one worker do not overlap in time and are in order; all chunks of a loop that has not failed
// cover 0..N-1, each iteration once.
type Chunk struct {
	Lo, Hi     int64
	Asked      int64 // Asked to Start is the time of claiming
	Start, End int64
	Worker     int32 // or Elsewhere
	Stolen     bool  // from another queue than the worker's own
}

// Elsewhere is the worker of a chunk that another rank has run. The chunk's duration is the one there,
// and its end is when its rows arrived here.
const Elsewhere = -1

// Units returns the number of leaves of the loop.
func (l *LoopRecord) Units() int64 {
	if l.Leaf <= 0 {
		return 0
	}
	return (l.N + l.Leaf - 1) / l.Leaf
}

// Busy returns the nanoseconds in chunks and in asking for them, summed over the workers here. The rest
// of (End - Start) times Workers went into other tasks, waking up, and waiting for the last chunk.
func (l *LoopRecord) Busy() (busy, claiming int64) {
	for i := range l.Chunks {
		c := &l.Chunks[i]
		if c.Worker == Elsewhere {
			continue
		}
		busy += c.End - c.Start
		claiming += c.Start - c.Asked
	}
	return busy, claiming
}

// AddLoop records an ended loop; r keeps its chunks. Any worker may call it. Without events
// (CountersOnly) it is dropped.
func (r *Recorder) AddLoop(l LoopRecord) {
	if r == nil || r.options.CountersOnly {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loops = append(r.loops, l)
}

// appendLoops appends the byte form of loops: strings in full, times as differences, about fifteen
// bytes a chunk.
func appendLoops(b []byte, loops []LoopRecord) []byte {
	b = binary.AppendVarint(b, int64(len(loops)))
	for i := range loops {
		l := &loops[i]
		for _, v := range []int64{int64(l.Node), int64(l.Round), l.N, l.Leaf, l.MinChunk, int64(l.Workers), l.Start, l.End - l.Start, bit(l.Chosen), bit(l.Failed), int64(l.At)} {
			b = binary.AppendVarint(b, v)
		}
		for _, s := range []string{l.Op, l.Where, l.Technique, l.Layout, l.Victim} {
			b = appendString(b, s)
		}
		b = binary.AppendVarint(b, int64(len(l.Chunks)))
		last, at := l.Start, int64(0)
		for _, c := range l.Chunks {
			for _, v := range []int64{c.Lo - at, c.Hi - c.Lo, int64(c.Worker)<<1 | bit(c.Stolen), c.Asked - last, c.Start - c.Asked, c.End - c.Start} {
				b = binary.AppendVarint(b, v)
			}
			last, at = c.End, c.Hi
		}
	}
	return b
}

// loops reads what appendLoops wrote.
func (d *decoder) loops() []LoopRecord {
	var out []LoopRecord
	for range d.count(17) {
		l := LoopRecord{Node: int32(d.int()), Round: int32(d.int()), N: d.int(), Leaf: d.int(), MinChunk: d.int(), Workers: int32(d.int())}
		l.Start = d.int()
		l.End = l.Start + d.int()
		l.Chosen, l.Failed, l.At = d.int() != 0, d.int() != 0, int32(d.int())
		for _, s := range []*string{&l.Op, &l.Where, &l.Technique, &l.Layout, &l.Victim} {
			*s = d.string()
		}
		if n := d.count(6); n > 0 {
			l.Chunks = make([]Chunk, n)
		}
		last, at := l.Start, int64(0)
		for i := range l.Chunks {
			c := &l.Chunks[i]
			c.Lo = at + d.int()
			c.Hi = c.Lo + d.int()
			w := d.int()
			c.Worker, c.Stolen = int32(w>>1), w&1 != 0
			c.Asked = last + d.int()
			c.Start = c.Asked + d.int()
			c.End = c.Start + d.int()
			last, at = c.End, c.Hi
		}
		if d.bad {
			return nil
		}
		out = append(out, l)
	}
	return out
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
