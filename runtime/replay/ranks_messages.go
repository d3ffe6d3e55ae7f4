package replay

import "flow/runtime/schedule"

// This file has the messages of simulated ranks: requests for work and their answers.

// message is an answer. A request is only an event.
type message struct {
	gift  []span
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
	k := int32(len(s.messages))
	if n := len(s.unused); n > 0 {
		k, s.unused = s.unused[n-1], s.unused[:n-1]
		s.messages[k] = m
	} else {
		s.messages = append(s.messages, m)
	}
	s.at(s.now+s.m.Delay, from, ^k)
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
	r.asking--
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
		if last := len(r.given) - 1; last >= 0 {
			c, r.given = r.given[last], r.given[:last]
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
// A rank begins with a block of consecutive iterations: the rows that it keeps, or under COST, once
// costs are known, a block of equal expected cost. Its threads take chunks of the block by the
// technique, which cuts for some threads more than there are (helpers), because other ranks may take
// chunks, too. STATIC cuts for the threads alone, and nothing is stolen.
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
// The runtime has this protocol (Note [Help among ranks] in runtime/local), except for the counter, and
// COST moves no blocks there: it learns the costs that all ranks measured, and orders a rank's own
// rows. A rank cuts what it was given itself, asks one rank at a time, and leaves a loop when all
// others have nothing, where this one waits and asks again.
