package schedule

// This file chooses which rank a rank without work asks. Real and simulated ranks share it.

// Hint says that a rank had some seconds of work left, at a time. The zero Hint says nothing.
type Hint struct {
	Rank     int32
	Left, At float64 // seconds
}

// Still returns the seconds of work that a hint promises now.
func (h *Hint) Still(now float64) float64 { return h.Left - (now - h.At) }

// Hints are the best hints that a rank has heard, in any order.
type Hints [4]Hint

// Learn keeps a hint in place of an older one about the same rank, or of the one that promises least.
// A hint that a rank has nothing left removes what is known of it.
func (h *Hints) Learn(x Hint) {
	if x == (Hint{}) {
		return
	}
	h.forget(x.Rank)
	least := 0
	for i := range h {
		if h[i].Left+h[i].At < h[least].Left+h[least].At {
			least = i
		}
	}
	if x.Left > 0 {
		h[least] = x
	}
}

// forget removes what is known of a rank.
func (h *Hints) forget(rank int32) {
	for i := range h {
		if h[i].Rank == rank {
			h[i] = Hint{}
		}
	}
}

// Best returns the hint that promises most now, of those that may tells; the zero Hint if none
// promises anything.
func (h *Hints) Best(now float64, may func(rank int32) bool) (best Hint) {
	for i := range h {
		if still := h[i].Still(now); still > 0 && h[i].Left > 0 && (best.Left <= 0 || still > best.Still(now)) && may(h[i].Rank) {
			best = h[i]
		}
	}
	return best
}

// Victim returns the rank to ask among those that may be asked: a near one with most work left, as
// far as the hints know and above least seconds, else a distant one; -1 if they know of none. The
// hint is used up, because the work may be gone when the next request arrives.
func (h *Hints) Victim(now, least float64, near, may func(rank int32) bool) int32 {
	best := h.Best(now, func(rank int32) bool { return may(rank) && near(rank) })
	if best.Still(now) <= least || best.Left <= 0 {
		best = h.Best(now, may)
	}
	if best.Left <= 0 || best.Still(now) <= least {
		return -1
	}
	h.forget(best.Rank)
	return best.Rank
}
