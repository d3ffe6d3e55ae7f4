package schedule

import "fmt"

// This file defines Sequence, the list of chunks that a technique hands out, for people and golden files. No runtime lists
// chunks: they are claimed.

// Run is so many chunks of one size in a row.
type Run struct{ Size, Repeat int }

// maxListed is how many chunks Sequence lists one by one.
const maxListed = 10_000_000

// Sequence lists the chunks in the order of their claiming. A technique whose chunks depend on who asks is asked by the workers in turn; its iterations
// take Mu each, by the wall clock none at all. Equal neighbours make one Run.
func Sequence(t *Technique, p Params) ([]Run, error) {
	if p.Now == nil {
		p.Now = func() float64 { return 0 }
	}
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
	for i := 0; ; i++ {
		start, size, ok := c.Claim(i % p.P)
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
		c.Report(i%p.P, start, size, float64(size)*p.Mu, p.H)
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
