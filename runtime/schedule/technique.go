package schedule

import (
	"fmt"
	"strings"
)

// This file defines Technique, the row of the table, and what a row says of its calculators.

// Technique is a way to cut a loop into chunks. Rows are read-only.
type Technique struct {
	Name    string
	Aliases []string // other names in use; comparison ignores case, "-" and "_"
	// static, fixed, decreasing, increasing, random, weighted, adaptive, stealing, cost,
	// expression
	Class  string
	Needs  string // the fields of Params that it reads
	Doc    string // the size of a chunk
	Source string // who published it, where and when
	build  func(Params) (Calculator, error)
}

// New makes the calculator for a loop. It refuses impossible params with an error that names the
// field and its value.
func (t *Technique) New(p Params) (Calculator, error) {
	p, err := p.checked()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t.build(p)
}

// Measured reports whether the technique's chunks depend on measured times, Params.Mu, Sigma and H.
func (t *Technique) Measured() bool { return strings.Contains(t.Needs, "sigma") }

// Static reports whether the technique decides before the loop begins which worker runs what.
func (t *Technique) Static() bool { return t.Class == "static" }

// Single reports the technique that claims one iteration at a time. It is a measure for the others,
// so the runtime must not group its iterations.
func (t *Technique) Single() bool { return t.Name == "SS" }
