package schedule

// This file chooses the rank that a rank without work asks. Runs and simulations use it.

// Hint says that Rank had Left seconds of work at the time At. The zero Hint says nothing.
type Hint struct {
	Rank     int32
	Left, At float64 // seconds
}

// Still returns the seconds of work that the rank has left now, if one second of it is done each
// second.
func (h *Hint) Still(now float64) float64 { return h.Left - (now - h.At) }

// Hints are the best hints that a rank has heard, in any order.
type Hints [4]Hint

// Learn stores a hint. It replaces an older hint about the same rank, or else the one that promises
// least. A hint that a rank has nothing left removes the hint about this rank.
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

// Best returns the hint that promises most now, among ranks for which may holds. It returns the zero
// Hint if none promises anything.
func (h *Hints) Best(now float64, may func(rank int32) bool) (best Hint) {
	for i := range h {
		if still := h[i].Still(now); still > 0 && h[i].Left > 0 && (best.Left <= 0 || still > best.Still(now)) && may(h[i].Rank) {
			best = h[i]
		}
	}
	return best
}

// Victim returns the rank to ask: the one with most work left by the hints, among ranks for which may
// holds. It prefers a near rank. It returns -1 if no hint promises more than least seconds. It removes
// the hint that it uses, because the work may be gone when the next request arrives.
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
