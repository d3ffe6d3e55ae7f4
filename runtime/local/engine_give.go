package local

// This file gives work to ranks that ask for it. A chunk of a loop in which ranks help each other
// runs part by part, so that a request is answered soon, however large the chunk is.

import (
	"fmt"
	"math"
	"slices"
	"time"

	"flow/runtime/schedule"
)

// shortPart and longPart bound the time of a part: between them a request waits for an answer.
const (
	shortPart = 100 * time.Microsecond
	longPart  = 500 * time.Microsecond
)

// parts runs a chunk part by part. at is the first iteration of the part that runs, and step the
// leaves of a part. after is called between two, and returns where the chunk ends now.
func (l *loopRun) parts(w *Worker, chunk Chunk, at *int64, step *int, after func(rest Chunk) (hi int)) error {
	l.foresees(chunk.size())
	for chunk.Lo < chunk.Hi {
		to := min(chunk.Lo+*step*l.leaf, chunk.Hi)
		*at = int64(chunk.Lo)
		began := time.Now()
		if err := l.steps.Chunk(w.index, chunk.Lo, to); err != nil {
			return err
		}
		took := time.Since(began)
		l.paces(took.Seconds() / float64(to-chunk.Lo))
		switch {
		case took < shortPart:
			*step = min(2**step, 1<<20)
		case took > longPart:
			*step = max(1, *step/2)
		}
		chunk.Lo = to
		l.e.o.Remote.Between(l.e.Now())
		chunk.Hi = after(chunk)
		l.foresees(chunk.size())
	}
	return nil
}

// paces updates the mean seconds of an iteration with those of the last part.
func (l *loopRun) paces(each float64) {
	if old := l.each(); old > 0 {
		each = (each + old) / 2
	}
	l.pace.Store(math.Float64bits(each))
}

// runGiven runs a chunk of another rank. A panic is an error.
func (l *loopRun) runGiven(w *Worker, chunk Chunk, step *int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	at := int64(0)
	return l.parts(w, chunk, &at, step, func(rest Chunk) int { return rest.Hi })
}

// runOwn runs a claim, and gives work to ranks that wait. ran is what it has run, and next the next
// claim, which is empty if it has made none.
func (l *loopRun) runOwn(w *Worker, c claimed, at *int64, step *int) (ran Chunk, next claimed, err error) {
	if l.ask.Loop == 0 {
		*at = int64(c.Lo)
		return c.Chunk, next, l.steps.Chunk(w.index, c.Lo, c.Hi)
	}
	ran = c.Chunk
	err = l.parts(w, c.Chunk, at, step, func(rest Chunk) int {
		for l.waiting.Load() > 0 && l.gives(w, &rest, &next) {
		}
		ran.Hi = rest.Hi
		return rest.Hi
	})
	return ran, next, err
}

// gives answers the rank that has waited longest. It returns false if no rank waits.
func (l *loopRun) gives(w *Worker, rest *Chunk, next *claimed) bool {
	h := &l.e.helping
	h.mu.Lock()
	if len(l.asked) == 0 {
		h.mu.Unlock()
		return false
	}
	a, among := l.asked[0], len(l.asked)+1
	l.asked = slices.Delete(l.asked, 0, 1)
	l.waiting.Store(int32(len(l.asked)))
	own := rest.size() + next.size() + int(l.left.Load())
	all := own + int(l.handed.Load())
	want := l.share(all, among, l.leaf, 1)
	gift := l.giveOn(want)
	h.mu.Unlock()
	onward := len(gift)
	for _, x := range gift {
		want -= x.size()
	}
	for want >= l.leaf && len(gift) < maxLent && l.pays(1) {
		part := l.take(w, rest, next, want)
		if part.size() == 0 {
			break
		}
		want -= part.size()
		if k := len(gift) - 1; k >= onward && gift[k].Hi == part.Lo {
			gift[k].Hi = part.Hi
		} else {
			gift = append(gift, Lent{l.e.o.Rank, part})
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	left := float64(rest.size() + next.size() + int(l.left.Load()+l.handed.Load()))
	if len(gift) == 0 && l.share(all, among, l.leaf, mayCost) >= l.leaf && l.pays(mayCost) {
		l.answer(a, Gift{Later: true}, left)
	} else {
		l.lends(a, gift, onward, left)
	}
	return true
}

// mayCost is how much more the rows that are left may cost than those that are done. A rank that asks
// waits as long as they would be worth their messages then.
const mayCost = 8

// maxLent is the most ranges of iterations in an answer.
const maxLent = 64

// take takes at most n iterations for another rank. It takes iterations that no worker has claimed, if
// there are any, and otherwise a part of rest, which the worker runs.
func (l *loopRun) take(w *Worker, rest *Chunk, next *claimed, n int) (part Chunk) {
	if next.size() == 0 {
		c, ok := l.claimNext(w)
		if !ok {
			return l.last(rest, n)
		}
		*next = c
	}
	if next.size() <= n { // all, in the order of claims
		part, next.Chunk = next.Chunk, Chunk{}
		return part
	}
	return l.last(&next.Chunk, n)
}

// share returns how many iterations go to a rank if `among` ranks share all that are left here. It is
// an equal part, in whole units, less what this rank runs during a round trip. As in pays, messages
// cost less where HelpFrom is below its default. Iterations count as taking so many times as long as
// the last.
func (l *loopRun) share(all, among, unit, times int) int {
	if l.most() == 0 {
		return 0
	}
	less := 0.
	if each := l.each() * float64(times); each > 0 {
		less = float64(l.e.helping.fast.Load()) / 1e9 / each * float64(len(l.e.scratch)) * min(1, l.e.o.HelpFrom.Seconds()/DefaultHelpFrom.Seconds())
	}
	return int(math.Round((float64(all)-less)/float64(among*unit))) * unit
}

// giveOn takes iterations off those that others have given, from the end. helping.mu is held.
func (l *loopRun) giveOn(n int) (gift []Lent) {
	for n = n / l.perRow * l.perRow; n > 0 && len(l.given) > 0; {
		last := &l.given[len(l.given)-1]
		x := Lent{last.Home, Chunk{max(last.Lo, last.Hi-n), last.Hi}}
		if last.Hi = x.Lo; last.size() == 0 {
			l.given = l.given[:len(l.given)-1]
		}
		l.handed.Add(-int64(x.size()))
		gift = append(gift, x)
		n -= x.size()
	}
	return gift
}

// answer sends what a rank has asked for. left is the number of iterations that remain here.
// helping.mu is held.
func (l *loopRun) answer(a Ask, g Gift, left float64) {
	now := l.clock()
	l.rowsFor(a.Rank, g.Lent, func(rows []byte) { g.Rows = append(g.Rows, rows...) })
	g.Begun = l.ask.Execution
	g.Hints[0] = schedule.Hint{Rank: int32(l.e.o.Rank), Left: left * l.each() / float64(len(l.e.scratch))}
	g.Hints[1] = l.hints.Best(now, func(rank int32) bool { return int(rank) != a.Rank })
	g.Hints[1].Left = max(0, g.Hints[1].Still(now))
	l.e.o.Remote.Give(a, g)
}

// lends gives a rank the iterations that a worker has taken for it. The first onward of them were given
// to this rank by others; among these may be rows of this rank, which are in away already. left is as
// in answer. helping.mu is held.
func (l *loopRun) lends(a Ask, gift []Lent, onward int, left float64) {
	gone := l.e.helping.gone[a.Rank]
	for k, x := range gift {
		switch {
		case k < onward && gone:
			l.given = append(l.given, x)
			l.handed.Add(int64(x.size()))
		case k < onward:
		case gone:
			l.undone = append(l.undone, x.Chunk)
		default:
			l.away = append(l.away, x.Chunk)
		}
	}
	if !gone {
		l.answer(a, Gift{Lent: gift}, left)
	}
}

// Asked handles the request of another rank. It answers at once if no worker here could: the execution
// has not begun, has ended, or all is claimed and no worker runs it.
func (e *Engine) Asked(from int, a Ask) error {
	if a.Rank != from {
		return fmt.Errorf("rank %d asks as rank %d", from, a.Rank)
	}
	h := &e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reaches(from, a.Loop, a.Execution)
	switch l := h.open[a.Loop]; {
	case l == nil || l.ask.Execution != a.Execution:
		begun := h.begun[a.Loop] // a rank that waits, maybe for the one that asks, cannot say that it will begin
		e.o.Remote.Give(a, Gift{Later: a.Execution > begun && !e.idles(), Begun: begun})
	case l.exhausted:
		l.answerOn(a, 2)
	default:
		l.asked = append(l.asked, a)
		l.waiting.Store(int32(len(l.asked)))
	}
	return nil
}

// answerOn answers with a part of what others have given.
func (l *loopRun) answerOn(a Ask, among int) {
	gift := l.giveOn(l.share(int(l.handed.Load()), among, l.perRow, 1))
	l.answer(a, Gift{Lent: gift}, float64(l.handed.Load()))
}

// begins counts a worker that begins to claim, and runsDry one that has found nothing to claim. The
// last worker that runs dry answers all ranks that wait.
func (l *loopRun) begins() {
	if l.ask.Loop != 0 {
		h := &l.e.helping
		h.mu.Lock()
		defer h.mu.Unlock()
		l.busy++
	}
}

func (l *loopRun) runsDry() {
	if l.ask.Loop != 0 {
		h := &l.e.helping
		h.mu.Lock()
		defer h.mu.Unlock()
		if l.busy--; l.busy == 0 {
			l.exhaust()
		}
	}
}

// exhaust answers all ranks that wait. helping.mu is held.
func (l *loopRun) exhaust() {
	l.exhausted = true
	for k, a := range l.asked {
		l.answerOn(a, len(l.asked)-k+1)
	}
	l.asked = l.asked[:0]
	l.waiting.Store(0)
}

// last takes n iterations or fewer, whole leaves, from the end of a chunk. It takes all of a chunk
// that has no more.
func (l *loopRun) last(from *Chunk, n int) (part Chunk) {
	part = Chunk{max(from.Hi-n, from.Lo), from.Hi}
	if r := (part.Lo - l.base) % l.leaf; r > 0 {
		part.Lo += l.leaf - r
	}
	from.Hi = part.Lo
	return part
}

// most returns how many iterations may go to another rank, whole leaves.
func (l *loopRun) most() int {
	rows := maxReturn / max(1, l.rowBytes())
	return rows * l.perRow / l.leaf * l.leaf
}

// pays reports whether the rows that this rank has made, had they taken so many times as long, took
// longer than to bring as many from another rank. Those that are made at the speed of memory would be
// made sooner than copied four times.
func (l *loopRun) pays(times int) bool {
	rows := (l.n - int(l.left.Load())) / l.perRow
	bytes := rows * l.rowBytes()
	took := time.Since(l.since) * time.Duration(times*len(l.e.scratch))
	return took >= l.e.o.HelpFrom*time.Duration(bytes/helpBytes)
}

// helpBytes is how many bytes of rows come from another rank in about DefaultHelpFrom.
const helpBytes = 512 << 10

// givenParts bounds what a worker takes at a time of what others gave, to this part of the rank's own
// iterations. Nobody can take it off the worker any more.
const givenParts = 64

// moves gives iterations away before the first chunk, if all ranks' times of an execution are known and
// the technique knows the costs of this rank's iterations. helping.mu is held.
func (l *loopRun) moves() {
	e, t := l.e, l.e.helping.tally[l.ask.Loop]
	if t == nil || t.totals == nil || e.helping.tooLate(l.ask) {
		return
	}
	less := float64(e.helping.fast.Load()) / 1e9 * min(1, e.o.HelpFrom.Seconds()/DefaultHelpFrom.Seconds())
	pays := e.o.HelpFrom.Seconds() * float64(l.n/l.perRow) * float64(l.rowBytes()) / helpBytes // as in pays
	var gives []schedule.Move
	for _, m := range schedule.Moves(t.totals) {
		switch {
		case m.Work < less || t.totals[m.From] < pays:
		case m.To == e.o.Rank:
			l.expects.Add(1)
		case m.From == e.o.Rank && !e.helping.gone[m.To]:
			gives = append(gives, m)
		}
	}
	costs, sum, all := l.log.queues.Costs(), 0., 0.
	for _, x := range costs {
		sum += x
	}
	if len(gives) == 0 || sum <= 0 {
		return
	}
	for i := range costs {
		costs[i] *= t.totals[e.o.Rank] / sum
	}
	for _, x := range t.totals {
		all += x
	}
	begin := func(bin int) int {
		unit := (bin*l.log.cut.units + len(costs) - 1) / len(costs)
		return l.base + min(unit*l.leaf, l.n)
	}
	for k, spans := range schedule.Parts(gives, all/float64(len(t.totals)), costs) {
		var gift []Lent
		n := l.most()
		for _, x := range spans {
			part := Chunk{begin(x.From), begin(x.Past)}
			if part.Lo = max(part.Lo, part.Hi-n); part.size() > 0 {
				gift = append(gift, Lent{e.o.Rank, part})
				l.moved = append(l.moved, part)
				n -= part.size()
			}
		}
		l.away = append(l.away, l.moved[len(l.moved)-len(gift):]...)
		l.answer(Ask{gives[k].To, l.ask.Loop, l.ask.Execution}, Gift{Lent: gift, Moved: true}, float64(l.n))
	}
	slices.SortFunc(l.moved, func(a, b Chunk) int { return a.Lo - b.Lo })
	for _, c := range l.moved {
		l.left.Add(-int64(c.size()))
		e.helping.moved += int64(c.size())
	}
}

// stays returns the first part of a claim that has not moved, maybe an empty one. Others are spare.
func (l *loopRun) stays(c Chunk) (first Chunk) {
	moved := func(k int) (lo, hi int) { return l.moved[k].Lo, l.moved[k].Hi }
	schedule.Staying(c.Lo, c.Hi, len(l.moved), moved, func(lo, hi int) {
		if first.size() == 0 {
			first = Chunk{lo, hi}
			return
		}
		l.e.helping.mu.Lock()
		l.spare = append(l.spare, Chunk{lo, hi})
		l.spares.Add(1)
		l.e.helping.mu.Unlock()
	})
	return first
}

// takeSpare takes a spare part of a claim, if there is one.
func (l *loopRun) takeSpare(c *claimed) bool {
	if l.spares.Load() == 0 {
		return false
	}
	l.e.helping.mu.Lock()
	defer l.e.helping.mu.Unlock()
	n := len(l.spare)
	if n == 0 {
		return false
	}
	*c = claimed{Chunk: l.spare[n-1]}
	l.spare = l.spare[:n-1]
	l.spares.Add(-1)
	return true
}
