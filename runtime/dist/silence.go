package dist

// This file mentions ranks that have been silent for long. Silence is no death: see liveness.go.

import (
	"fmt"
	"strings"
	"time"
)

const (
	// silentLooks is the number of looks, lookEvery apart, after which a silent rank is
	// mentioned: 10 s. Looks are counted instead of time, so that a rank that was stopped
	// itself does not blame others.
	silentLooks = 20
	// askBefore is how many looks before that it is asked for a message, since an idle rank
	// sends none by itself.
	askBefore = 10
)

// watched returns the ranks that this one watches.
func (r *rank) watched() (from, to int) {
	switch {
	case r.o.Notice == nil:
		return 0, 0
	case r.me == 0:
		return 1, r.n
	case r.me == 1:
		return 0, 1
	}
	return 0, 0
}

// heardFrom records a sign of life. The polling goroutine calls it.
func (r *rank) heardFrom(src int) { r.silences.heard[src].Store(r.silences.looks.Load()) }

// listenForSilence performs one look. It belongs to Run's goroutine.
func (r *rank) listenForSilence() {
	s := r.silences
	now := s.looks.Add(1)
	for i, to := r.watched(); i < to; i++ {
		switch silent := now - s.heard[i].Load(); {
		case silent <= silentLooks-askBefore:
			if s.mentioned[i] {
				r.o.Notice(fmt.Sprintf("rank %d is heard again", i))
			}
			s.asked[i], s.mentioned[i] = false, false
		case !s.asked[i]:
			s.asked[i] = true
			r.say(i, &message{Word: &word{From: r.me, Ask: true}})
		case silent > silentLooks && !s.mentioned[i]:
			s.mentioned[i] = true
			who := fmt.Sprintf("rank %d", i)
			if i < len(r.peers) {
				who += fmt.Sprintf(" (%v)", r.peers[i])
			}
			r.o.Notice(fmt.Sprintf("%s has been silent for %.0f s: it is stopped, or its machine is overloaded; the others wait for it",
				who, (silentLooks * r.o.looks).Seconds()))
		}
	}
}

// answered answers a word that asks.
func (r *rank) answered(w *word) {
	if w.Ask {
		r.say(w.From, &message{Word: &word{From: r.me}})
	}
}

// lateness mentions, in the handshake of rank 0, ranks without a message.
type lateness struct {
	last  time.Time
	looks int
	said  bool
}

// look is called repeatedly; late are the awaited ranks.
func (l *lateness) look(r *rank, late func() []int) {
	now := time.Now()
	if r.o.Notice == nil || now.Sub(l.last) < r.o.looks {
		return
	}
	if l.last = now; l.looks <= silentLooks {
		l.looks++
		return
	}
	if !l.said {
		l.said = true
		var names []string
		for _, i := range late() {
			names = append(names, fmt.Sprint(i))
		}
		r.o.Notice(fmt.Sprintf("waiting for ranks that have not begun after %.0f s: %s", (silentLooks * r.o.looks).Seconds(), strings.Join(names, ", ")))
	}
}
