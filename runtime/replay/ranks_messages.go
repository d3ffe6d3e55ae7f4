package replay

import (
	"slices"
	"sort"

	"flow/runtime/schedule"
)

// This file has the messages of simulated ranks: requests for work and their answers.

// message is an answer, or work that moves before the first chunk. A request is only an event.
type message struct {
	gift  []span
	moved bool
	hints [2]schedule.Hint // the sender, and the best that it knows
}

// ask sends a request if the rank needs more work soon.
func (s *rankLoop) ask(rank int32) {
	r := &s.ranks[rank]
	if !s.helps || s.left == 0 || r.asking >= probes || r.asking > 0 && r.idle == 0 {
		return
	}
	if rest, ok := s.rest(r); r.idle == 0 && (!ok || rest > leads*2*s.m.Delay) {
		return
	}
	for more := true; more; more = r.idle > 0 && r.asking < probes {
		r.asking++
		if r.vain < s.limit {
			s.out.Messages++
			s.at(s.now+s.m.Delay, s.victim(rank, r), int32(2*s.m.Threads)+1+rank)
		} else {
			s.at(s.now+max(2*s.m.Delay, s.now*patience, (s.now-r.dry)*patienceDry), rank, int32(2*s.m.Threads))
		}
	}
}

// victim chooses whom a rank asks: who has most left as far as it knows, or any.
func (s *rankLoop) victim(rank int32, r *simRank) int32 {
	others := func(to int32) bool { return to != rank }
	if to := r.hints.Victim(s.now, 2*s.m.Delay, others, others); to >= 0 {
		return to
	}
	to := int32(s.random.IntN(s.m.Ranks - 1))
	if to >= rank {
		to++
	}
	return to
}

// asked answers a request, with what the rank knows of the work that is left.
func (s *rankLoop) asked(rank, from int32) {
	r := &s.ranks[rank]
	m := message{gift: s.gift(r)}
	left, _ := s.rest(r)
	m.hints[0] = schedule.Hint{Rank: rank, Left: left, At: s.now}
	m.hints[1] = r.hints.Best(s.now, func(rank int32) bool { return rank != from })
	s.out.Messages++
	s.send(from, m)
}

// send sends a message that has iterations.
func (s *rankLoop) send(to int32, m message) {
	k := int32(len(s.messages))
	if n := len(s.unused); n > 0 {
		k, s.unused = s.unused[n-1], s.unused[:n-1]
		s.messages[k] = m
	} else {
		s.messages = append(s.messages, m)
	}
	s.at(s.now+s.m.Delay, to, ^k)
}

// moves sends iterations of ranks with more work than the mean to ranks with less, before the first
// chunk.
func (s *rankLoop) moves() {
	totals := make([]float64, len(s.ranks))
	for i := range s.ranks {
		totals[i] = s.ranks[i].work
	}
	for p := 1; p < s.m.Ranks; p *= 2 {
		s.out.Messages += s.m.Ranks // totals
	}
	mean := s.expected.Total() / float64(len(s.ranks))
	var costs []float64
	for list := schedule.Moves(totals); len(list) > 0; {
		n := 1
		for n < len(list) && list[n].From == list[0].From {
			n++
		}
		r := &s.ranks[list[0].From]
		costs = s.bins(costs[:0], r.home)
		for k, spans := range schedule.Parts(list[:n], mean, costs) {
			var gift []span
			for _, x := range spans {
				lo, hi := binStart(r.home, x.From, len(costs)), binStart(r.home, x.Past, len(costs))
				gift = append(gift, span{lo, hi})
			}
			if len(gift) == 0 {
				continue
			}
			for _, c := range gift {
				r.left -= int32(c.size())
				r.work -= s.work(c)
				s.ranks[list[k].To].coming += s.work(c)
			}
			r.moved = append(r.moved, gift...)
			s.out.Messages++
			s.send(int32(list[k].To), message{gift: gift, moved: true})
		}
		slices.SortFunc(r.moved, func(a, b span) int { return int(a.lo - b.lo) })
		list = list[n:]
	}
}

// bins appends the expected costs of equal parts of a block.
func (s *rankLoop) bins(costs []float64, block span) []float64 {
	bins := min(block.size(), mostBins)
	for b := range bins {
		costs = append(costs, s.work(span{binStart(block, b, bins), binStart(block, b+1, bins)}))
	}
	return costs
}

// binStart returns where a bin of a block begins.
func binStart(block span, bin, bins int) int32 {
	return block.lo + int32(bin*block.size()/bins)
}

// stays returns the first part of a claim that has not moved, maybe an empty one. Others are spare.
func (r *simRank) stays(c span) (first span) {
	moved := func(k int) (lo, hi int) { return int(r.moved[k].lo), int(r.moved[k].hi) }
	schedule.Staying(int(c.lo), int(c.hi), len(r.moved), moved, func(lo, hi int) {
		if part := (span{int32(lo), int32(hi)}); first.size() == 0 {
			first = part
		} else {
			r.spare = append(r.spare, part)
		}
	})
	return first
}

// takeGiven takes a chunk of what others gave: one that they claimed, or under COST at most as much
// as a run takes (givenParts in runtime/local).
func (s *rankLoop) takeGiven(r *simRank) (c span) {
	c = r.given[0]
	if s.expected != nil {
		all := 0
		for _, g := range r.given {
			all += g.size()
		}
		n := max(min(all/(2*s.m.Threads), r.home.size()/givenParts), 1)
		c.hi = min(c.hi, c.lo+int32(n))
	}
	if r.given[0].lo = c.hi; r.given[0].size() == 0 {
		r.given = r.given[1:]
	}
	return c
}

// giveOn takes the last chunk of what others gave, for another rank. Under COST it takes the shortest
// end of that chunk that costs the expected work, or all of it.
func (s *rankLoop) giveOn(r *simRank, work float64) (c span) {
	last := len(r.given) - 1
	c = r.given[last]
	if s.expected != nil {
		c.lo += int32(sort.Search(c.size()-1, func(k int) bool { return s.work(span{c.lo + int32(k) + 1, c.hi}) < work }))
	}
	if r.given[last].hi = c.lo; r.given[last].size() == 0 {
		r.given = r.given[:last]
	}
	return c
}

// receive handles an answer.
func (s *rankLoop) receive(rank, k int32) {
	m := s.messages[k]
	s.messages[k].gift = nil
	s.unused = append(s.unused, k)
	r := &s.ranks[rank]
	for _, h := range m.hints {
		r.hints.Learn(h)
	}
	if m.moved {
		for _, c := range m.gift {
			r.coming -= s.work(c)
		}
	} else {
		r.asking--
	}
	if len(m.gift) == 0 {
		r.vain++
		s.ask(rank)
		return
	}
	r.vain = 0
	r.given = append(r.given, m.gift...)
	for _, c := range m.gift {
		r.work += s.work(c)
	}
	for w, n := int32(0), len(m.gift); int(w) < s.m.Threads && n > 0; w++ {
		if t := s.thread(rank, w); t.idle {
			n--
			r.idle--
			t.idle = false
			s.at(s.now, rank, w)
		}
	}
}

// gift takes chunks off a rank for another: so many that both end at the same time, if the other
// begins after one message, and its results come back by another.
func (s *rankLoop) gift(r *simRank) (gift []span) {
	more := r.work
	if unit, ok := s.unit(r); ok && unit > 0 {
		more -= 2 * s.m.Delay / unit * float64(s.m.Threads)
	}
	for more /= 2; more > 0; {
		var c span
		if len(r.given) > 0 {
			c = s.giveOn(r, more)
			s.left -= c.size()
			r.work -= s.work(c)
		} else {
			var ok bool
			if c, ok = s.claimOwn(r, s.m.Threads); !ok {
				break
			}
		}
		gift = append(gift, c)
		more -= s.work(c)
		s.left += c.size()
	}
	return gift
}

// Note [Simulated ranks]
//
// A rank begins with its own rows. Its threads take chunks of them by the technique, which cuts for
// some threads more than there are (helpers), because other ranks may take chunks, too. STATIC cuts for
// the threads alone, and nothing is stolen.
//
// Under COST, once costs are known, ranks with more work than the mean give rows to ranks with less
// (schedule.Moves) in one message before the first chunk. A rank runs its own rows first, so that
// message is hidden. Ranks know the totals of all by messages of the execution before, ceil(log2 P) a
// rank, while other things go on.
//
// A rank asks for work when what it has left will take less than some round trips (leads), so that
// the answer is there in time. It asks the rank that has most left as far as it knows, or any. Who is
// asked gives chunks, its own or such as it was given: half of its work, less what two messages
// take. Each answer says how much its sender has left, and who else has much. Rows go home when they
// are done, in a message. A rank that has asked in vain log P + 4 times waits a little.
//
// Each claim from a counter for all threads is two messages. A thread's first chunk is that of its
// number, and its next claim is under way while it runs a chunk.
//
// The runtime has this protocol (Note [Help among ranks] in runtime/local), except for the counter.
// COST learns after each execution here, and in a run when it is worth the time. A rank of a run asks
// one rank at a time, and leaves a loop when all others have nothing and will have none. This one waits
// and asks again. Here all ranks begin an execution together, and messages are worth any work.
