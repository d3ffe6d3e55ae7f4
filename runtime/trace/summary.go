package trace

// This file defines Summary: where the time of a run went, and how much of its communication was
// hidden behind work.

import (
	"cmp"
	"slices"
)

// Summary is the account of a run on one or several ranks. Durations are nanoseconds.
type Summary struct {
	Makespan int64 // from the first event of any rank to the last, on the clock of rank 0
	Tracks   []TrackSummary
	Total    Counters // First and Last are on each rank's own clock and mean nothing here
	// Communication is the time with at least one message under way, summed over ranks. In its
	// part Hidden at least one worker of the same rank ran a task, in FullyHidden all did. All
	// three are 0 if events were not kept.
	Communication, Hidden, FullyHidden int64
}

// TrackSummary is the account of one track. Busy + Communication + Wait + Idle = Makespan.
type TrackSummary struct {
	Rank                            int
	Name                            string
	Worker                          bool
	Tasks                           int64
	Busy, Communication, Wait, Idle int64
}

// HiddenShare returns the part of the communication time that overlapped with busy workers, or 0.
func (s *Summary) HiddenShare() float64 {
	return float64(s.Hidden) / float64(max(s.Communication, 1))
}

// Summarise accounts for a run. It skips nil recordings and takes time O(n log n) in the events.
func Summarise(recordings ...*Recording) *Summary {
	s := &Summary{}
	begin, end, any := int64(0), int64(0), false
	for _, r := range recordings {
		if r == nil {
			continue
		}
		for i := range r.Tracks {
			c := &r.Tracks[i].Counters
			s.Total = s.Total.Plus(*c)
			if c.events() == 0 {
				continue
			}
			if first := r.origin() + c.First; !any || first < begin {
				begin = first
			}
			if last := r.origin() + c.Last; !any || last > end {
				end = last
			}
			any = true
		}
	}
	s.Makespan = end - begin
	for _, r := range recordings {
		if r != nil {
			s.rank(r)
		}
	}
	return s
}

// edge is a time at which something begins or ends.
type edge struct {
	at       int64
	work     int8 // change of the number of busy workers
	messages int8 // change of the number of messages under way
}

func (s *Summary) rank(r *Recording) {
	var edges []edge
	workers := 0
	for i := range r.Tracks {
		t := &r.Tracks[i]
		c := t.Counters
		sum := TrackSummary{Rank: r.Rank, Name: t.Name, Worker: t.Worker, Tasks: c.Tasks, Busy: c.Busy, Communication: c.Communicating, Wait: c.Waiting}
		if t.Worker {
			workers++
		}
		from := len(edges)
		for e := range t.Events() {
			switch e.Kind {
			case Task, Share:
				edges = append(edges, edge{e.Start, 1, 0}, edge{e.End, -1, 0})
			case Send, Receive:
				edges = append(edges, edge{e.Start, 0, 1}, edge{e.End, 0, -1})
			}
		}
		if c.Dropped == 0 && len(edges) > from && c.Communicating > 0 {
			// Messages of one track are under way together; the track's share is the
			// time with any.
			sum.Communication, _, _ = overlap(edges[from:], 0)
		}
		sum.Idle = max(s.Makespan-sum.Busy-sum.Communication-sum.Wait, 0)
		s.Tracks = append(s.Tracks, sum)
	}
	c, h, f := overlap(edges, workers)
	s.Communication += c
	s.Hidden += h
	s.FullyHidden += f
}

// overlap sweeps over edges, which it sorts: the time with messages under way, with some and with
// all workers busy too.
func overlap(edges []edge, workers int) (communication, hidden, fully int64) {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	busy, messages := 0, 0
	for i, e := range edges {
		if messages > 0 {
			d := e.at - edges[i-1].at
			communication += d
			if busy > 0 {
				hidden += d
			}
			if busy >= workers && workers > 0 {
				fully += d
			}
		}
		busy += int(e.work)
		messages += int(e.messages)
	}
	return communication, hidden, fully
}
