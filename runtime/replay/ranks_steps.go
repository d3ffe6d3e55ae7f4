package replay

// This file has the steps of the threads of simulated ranks.

// finish accounts for the chunk that a thread has run, if any.
func (s *rankLoop) finish(r *simRank, t *simThread) (n int) {
	if n = t.chunk.size(); n > 0 {
		r.did += s.work(t.chunk)
		r.took += t.seconds
		s.end = max(s.end, s.now)
		if s.measured != nil {
			s.measure(t.chunk, t.seconds)
		}
	}
	return n
}

// begin lets a thread run a chunk.
func (s *rankLoop) begin(rank, thread int32, t *simThread, c span) {
	t.chunk = c
	t.seconds = s.tr.Of(int(c.lo), c.size())
	if s.m.Speeds != nil {
		t.seconds /= s.m.Speeds[rank]
	}
	s.out.Chunks++
	s.out.Busy += t.seconds
	s.out.Sched += s.m.H
	s.at(s.now+s.m.H+t.seconds, rank, thread)
}

// step is what a thread does that has become free, if ranks have blocks.
func (s *rankLoop) step(rank, thread int32) {
	r, t := &s.ranks[rank], s.thread(rank, thread)
	if n := s.finish(r, t); n > 0 {
		if t.own && s.measured == nil { // else the next execution has other blocks
			r.own.Report(int(thread), int(t.chunk.lo-r.block.lo), n, t.seconds, s.m.H)
		}
		s.goesHome(r, t.chunk, s.now)
		t.chunk = span{}
	}
	if c, ok := s.claimOwn(r, int(thread)); ok {
		t.own = true
		s.begin(rank, thread, t, c)
	} else if len(r.given) > 0 {
		t.own = false
		c = s.takeGiven(r)
		s.left -= c.size()
		r.work -= s.work(c)
		s.begin(rank, thread, t, c)
	} else {
		t.idle = true
		if r.idle++; r.idle == 1 {
			r.dry = s.now
		}
	}
	s.ask(rank)
}

// goesHome sends the rows of a chunk that ends at a time to where they are kept.
func (s *rankLoop) goesHome(r *simRank, c span, end float64) {
	if c.lo < r.home.lo || c.hi > r.home.hi {
		s.out.Messages++
		s.end = max(s.end, end+s.m.Delay)
	}
}

// claimOwn claims a chunk of a rank's own block.
func (s *rankLoop) claimOwn(r *simRank, thread int) (c span, ok bool) {
	if r.left == 0 {
		return c, false
	}
	if n := len(r.spare); n > 0 {
		c, r.spare = r.spare[0], r.spare[1:]
	}
	for c.size() == 0 {
		start, n, ok := r.own.Claim(thread)
		if !ok && s.helps { // what was claimed for other ranks may have left a rest
			start, n, ok = r.own.Claim(s.m.Threads)
		}
		if !ok {
			return c, false
		}
		if c = r.block.from(start, n); r.moved != nil {
			c = r.stays(c)
		}
	}
	r.left -= int32(c.size())
	s.left -= c.size()
	r.work -= s.work(c)
	return c, true
}

// stepCounter is what a thread does that has become free, if all share a counter. The first step of
// thread t is t, which it knows.
func (s *rankLoop) stepCounter(rank, thread int32) {
	r, t := &s.ranks[rank], s.thread(rank, thread)
	worker := int(rank)*s.m.Threads + int(thread)
	if n := s.finish(r, t); n > 0 {
		s.shared.Report(worker, int(t.chunk.lo), n, t.seconds, s.m.H)
		t.chunk = span{}
	} else if !t.begun {
		t.begun = true
		if start, n, ok := s.shared.Claim(worker); ok {
			s.beginCounter(rank, thread, span{}.from(start, n))
		}
		return
	}
	if !t.known {
		t.waits = true // claim continues
		return
	}
	if t.ready > s.now {
		s.at(t.ready, rank, thread)
		return
	}
	if c := t.next; c.lo < c.hi {
		s.beginCounter(rank, thread, c)
	}
}

// beginCounter lets a thread run a chunk, and sends its next claim in time.
func (s *rankLoop) beginCounter(rank, thread int32, c span) {
	r, t := &s.ranks[rank], s.thread(rank, thread)
	t.known = false
	s.begin(rank, thread, t, c)
	s.goesHome(r, c, s.now+s.m.H+t.seconds)
	early := s.now
	if r.did > 0 {
		estimated := min(float64(c.size())*r.took/float64(r.did), s.m.H+t.seconds)
		early = max(early, s.now+estimated-leads*2*s.m.Delay)
	}
	s.out.Messages += 2
	s.at(early+s.m.Delay, rank, int32(s.m.Threads)+thread)
}

// claim is the arrival of a thread's claim at the counter.
func (s *rankLoop) claim(rank, thread int32) {
	t := s.thread(rank, thread)
	s.counter = max(s.counter, s.now) + s.m.Op
	t.ready = s.counter + s.m.Delay
	start, n, _ := s.shared.Claim(int(rank)*s.m.Threads + int(thread))
	t.next = span{}.from(start, n)
	t.known = true
	if t.waits {
		t.waits = false
		s.at(t.ready, rank, thread)
	}
}
