package trace

// This file defines Recorder and Track: the part that is on the path of every task.

import (
	"fmt"
	"sync"
	"time"
)

// Recorder collects the events of one rank. A nil Recorder is off.
type Recorder struct {
	rank    int
	options Options
	epoch   time.Time
	tracks  []*Track // workers, then communication

	mu    sync.Mutex
	names []string
	loops []LoopRecord
	ids   map[string]int32
}

// Options changes what is kept.
type Options struct {
	CountersOnly bool // keep sums, not events
	// a track; more are counted as dropped. 0 means 4 million, which are 160 MB
	MaxEvents int
}

const defaultMaxEvents = 4 << 20

// New begins recording for one rank with the given number of workers. At most one options value
// counts.
func New(rank, workers int, options ...Options) *Recorder {
	r := &Recorder{rank: rank, epoch: time.Now(), ids: map[string]int32{}}
	if len(options) > 0 {
		r.options = options[0]
	}
	if r.options.MaxEvents <= 0 {
		r.options.MaxEvents = defaultMaxEvents
	}
	for i := range workers {
		r.tracks = append(r.tracks, &Track{recorder: r, name: fmt.Sprintf("worker %d", i)})
	}
	r.tracks = append(r.tracks, &Track{recorder: r, name: "communication", shared: true})
	return r
}

// Epoch returns the time 0 of Track.Now. It is now if nothing is recorded.
func (r *Recorder) Epoch() time.Time {
	if r == nil {
		return time.Now()
	}
	return r.epoch
}

// Name returns the number that stands for a name in events. It takes a lock: ask before the run.
func (r *Recorder) Name(name string) int32 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.ids[name]
	if !ok {
		id = int32(len(r.names))
		r.names = append(r.names, name)
		r.ids[name] = id
	}
	return id
}

// Worker returns the track of worker i, nil if r is off.
func (r *Recorder) Worker(i int) *Track {
	if r == nil {
		return nil
	}
	return r.tracks[i]
}

// Communication returns the track for messages, nil if r is off.
func (r *Recorder) Communication() *Track {
	if r == nil {
		return nil
	}
	return r.tracks[len(r.tracks)-1]
}

// slabEvents is the number of events that a track allocates at a time, 160 KB: an append never
// copies, and a short run costs little.
const slabEvents = 4096

type slab [slabEvents]Event

// Track is an append-only list of events. A worker's track may be written by that worker alone, the
// communication track by any goroutine. A nil Track is off.
type Track struct {
	recorder *Recorder
	name     string
	shared   bool
	mu       sync.Mutex // used if shared
	counters Counters
	slabs    []*slab
	used     int // events in the last slab
	kept     int
}

// Now is the time for Event's Start and End, 0 if t is off: then the clock is not read.
func (t *Track) Now() int64 {
	if t == nil {
		return 0
	}
	return int64(time.Since(t.recorder.epoch))
}

// Task records that a task ran from start, a value of Now, until this moment, which it returns: the
// start of the next one, if that follows at once.
func (t *Track) Task(id, name int32, start int64) int64 {
	if t == nil {
		return 0
	}
	end := t.Now()
	t.Add(Event{Kind: Task, ID: id, Name: name, Start: start, End: end})
	return end
}

// Share records that the worker took part in loop id from start until this moment, which it
// returns. The worker that ends the loop records its own part as the loop's Task.
func (t *Track) Share(id, name int32, start int64) int64 {
	if t == nil {
		return 0
	}
	end := t.Now()
	t.Add(Event{Kind: Share, ID: id, Name: name, Start: start, End: end})
	return end
}

// Add records an event that has ended.
func (t *Track) Add(e Event) {
	if t == nil {
		return
	}
	if t.shared {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	t.counters.add(&e)
	if t.recorder.options.CountersOnly {
		return
	}
	if t.kept >= t.recorder.options.MaxEvents {
		t.counters.Dropped++
		return
	}
	if len(t.slabs) == 0 || t.used == slabEvents {
		t.slabs = append(t.slabs, new(slab))
		t.used = 0
	}
	t.slabs[len(t.slabs)-1][t.used] = e
	t.used++
	t.kept++
}

// Recording takes what was recorded so far, nil if r is off. No worker may be recording. The events
// are not copied: the result must not be used after recording has gone on.
func (r *Recorder) Recording() *Recording {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := &Recording{Rank: r.rank, Epoch: r.epoch.UnixNano(), Names: append([]string(nil), r.names...), Loops: r.loops}
	for _, t := range r.tracks {
		if t.shared {
			t.mu.Lock()
		}
		out := TrackRecording{Name: t.name, Worker: !t.shared, Counters: t.counters}
		for i, s := range t.slabs {
			if i == len(t.slabs)-1 {
				out.slabs = append(out.slabs, s[:t.used])
			} else {
				out.slabs = append(out.slabs, s[:])
			}
		}
		if t.shared {
			t.mu.Unlock()
		}
		rec.Tracks = append(rec.Tracks, out)
	}
	return rec
}
