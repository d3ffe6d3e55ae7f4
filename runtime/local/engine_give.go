package local

// This file gives work to ranks that ask for it. A chunk of a loop in which ranks help each other
// runs part by part, so that a request is answered soon, however large the chunk is.

import (
	"slices"
	"time"

	"flow/ir/value"
	"flow/runtime/trace"
)

// shortPart and longPart bound the time of a part: between them a request waits for an answer.
const (
	shortPart = 100 * time.Microsecond
	longPart  = 500 * time.Microsecond
)

// parts runs a chunk part by part. at is the first iteration of the part that runs, and step the
// leaves of a part. after is called between two, and returns where the chunk ends now.
func (l *loopRun) parts(w *Worker, chunk Chunk, at *int64, step *int, after func(rest Chunk) (hi int)) error {
	for chunk.Lo < chunk.Hi {
		to := min(chunk.Lo+*step*l.leaf, chunk.Hi)
		*at = int64(chunk.Lo)
		began := time.Now()
		if err := l.steps.Chunk(w.index, chunk.Lo, to); err != nil {
			return err
		}
		switch took := time.Since(began); {
		case took < shortPart:
			*step = min(2**step, 1<<20)
		case took > longPart:
			*step = max(1, *step/2)
		}
		chunk.Lo = to
		l.e.o.Remote.Between(l.e.Now())
		chunk.Hi = after(chunk)
	}
	return nil
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

// gives gives the rank that has waited longest half of an equal share of what is left here: of rest,
// which this worker runs, of next, which it has claimed, and of what nobody has claimed. The rank
// asks for more when it begins that. It returns false if no rank waits.
func (l *loopRun) gives(w *Worker, rest *Chunk, next *claimed) bool {
	a, among := l.nextAsk()
	if among == 0 {
		return false
	}
	want := (rest.size() + next.size() + int(l.left.Load())) / (2 * among)
	want = min(max(want/l.leaf, 1)*l.leaf, l.most())
	var part Chunk
	switch {
	case want == 0 || !l.pays(): // a row is too large to be copied, or made sooner than copied
	case rest.size() > want:
		part = l.last(rest, want)
	case next.size() > 0:
		part = l.last(&next.Chunk, want)
	default:
		for next.size() == 0 && part.size() < want {
			c, ok := l.claimNext(w)
			switch {
			case !ok:
				l.leaves(w, a, part)
				return true
			case part.size() == 0 && c.size() > want:
				part = l.last(&c.Chunk, want)
				*next = c
			case part.size() > 0 && (c.Lo != part.Hi || c.Hi-part.Lo > want):
				*next = c
			default:
				part = Chunk{c.Hi - c.size() - part.size(), c.Hi}
			}
		}
	}
	l.leaves(w, a, part)
	return true
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
	rows := maxReturn / max(1, len(l.rowsOf(l.out.(*value.Dense), Chunk{0, l.perRow})))
	return rows * l.perRow / l.leaf * l.leaf
}

// pays reports whether the rows that this rank has made took longer than to bring as many from another
// rank. Those that are made at the speed of memory would be made sooner than copied four times.
func (l *loopRun) pays() bool {
	rows := (l.n - int(l.left.Load())) / l.perRow
	bytes := rows * len(l.rowsOf(l.out.(*value.Dense), Chunk{0, l.perRow}))
	took := time.Since(l.since) * time.Duration(len(l.e.scratch))
	return took >= l.e.o.HelpFrom*time.Duration(bytes/helpBytes)
}

// helpBytes is how many bytes of rows come from another rank in about DefaultHelpFrom.
const helpBytes = 512 << 10

// nextAsk takes the request that has waited longest. among is for how many ranks there is to share;
// 0: none waits any more.
func (l *loopRun) nextAsk() (a Ask, among int) {
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(l.asked) == 0 {
		return a, 0
	}
	a, among = l.asked[0], len(l.asked)+1
	l.asked = slices.Delete(l.asked, 0, 1)
	l.waiting.Store(int32(len(l.asked)))
	return a, among
}

// leaves notes that the rank of a request has a chunk, and gives it. An empty one says that there is
// none.
func (l *loopRun) leaves(w *Worker, a Ask, chunk Chunk) {
	if l.keeps && chunk.size() > 0 { // the record covers all iterations, and these took the worker no time
		now := l.e.Now()
		l.chunks[w.index] = append(l.chunks[w.index], trace.Chunk{Lo: int64(chunk.Lo - l.base),
			Hi: int64(chunk.Hi - l.base), Worker: int32(w.index), Asked: now, Start: now, End: now})
	}
	h := &l.e.helping
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case chunk.size() == 0:
	case h.gone[a.Rank].Load():
		l.undone = append(l.undone, chunk)
		return
	default:
		l.away = append(l.away, chunkAway{a.Rank, chunk})
	}
	l.e.o.Remote.Give(a, chunk)
}
