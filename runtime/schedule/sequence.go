package schedule

import "fmt"

// This file defines Sequence, the list of chunks of a technique, for people and golden files. No
// runtime lists chunks.

// Run is Repeat chunks of one size in a row.
type Run struct{ Size, Repeat int }

// maxListed is how many chunks Sequence lists one by one.
const maxListed = 10_000_000

// Sequence lists the chunks in the order of claiming. An adaptive technique is asked by the workers
// in turn; each reports its last chunk when it asks for the next. An iteration takes Mu on a worker
// of weight 1, and a claim takes H. Equal neighbours make one Run.
func Sequence(t *Technique, p Params) ([]Run, error) {
	calc, err := t.New(p)
	if err != nil {
		return nil, err
	}
	if f, ok := calc.(*fixed); ok { // N runs of 1 need not be counted one by one
		return f.sequence(), nil
	}
	p = calc.Loop()
	var runs []Run
	c := NewClaimer(calc)
	var last []struct{ start, size int } // of each worker
	if c.Learns() {
		last = make([]struct{ start, size int }, p.P)
	}
	for i := 0; ; i++ {
		w := i % p.P
		if last != nil && last[w].size > 0 {
			c.Report(w, last[w].start, last[w].size, float64(last[w].size)*p.Mu/p.Weights[w], p.H)
		}
		start, size, ok := c.Claim(w)
		switch {
		case !ok:
			return runs, c.Err()
		case i == maxListed:
			return nil, fmt.Errorf("%s hands out %d iterations in more than %d chunks: too many to list", t.Name, p.N, maxListed)
		case len(runs) > 0 && runs[len(runs)-1].Size == size:
			runs[len(runs)-1].Repeat++
		default:
			runs = append(runs, Run{size, 1})
		}
		if last != nil {
			last[w].start, last[w].size = start, size
		}
	}
}

func (f *fixed) sequence() []Run {
	if f.N == 0 {
		return nil
	}
	last := f.N - (f.count-1)*f.size
	switch {
	case last == f.size:
		return []Run{{f.size, f.count}}
	case f.count == 1:
		return []Run{{last, 1}}
	}
	return []Run{{f.size, f.count - 1}, {last, 1}}
}

// MarshalJSON writes a pair [size, repeat], the form of the golden files.
func (r Run) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", r.Size, r.Repeat), nil }
