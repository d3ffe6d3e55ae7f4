package rule

// Class says what a rule may do to bits.
type Class uint8

// The classes.
const (
	Exact     Class = iota // keeps every bit; can be switched off
	Canonical              // defines the meaning; always on
)

func (c Class) String() string { return [...]string{"exact", "canonical"}[c] }

// Rule is one row of the table. testdata/NAME.txtar is its example: a graph, and what the rule
// alone makes of it.
type Rule struct {
	// Name is a verb phrase, for --disable and reports.
	Name  string
	Class Class
	// Doc says in one or two sentences what it wins, and why it is allowed: why the bits stay, or,
	// of a canonical rule, why the result is not less accurate.
	Doc string
	// Rewrites are `pattern -> replacement`. The replacement's type must be that of what it
	// replaces, or the rewrite does not apply: so `mul(x, 1) -> x` leaves a bool x, of which the
	// product is an i64, alone.
	Rewrites []string
	// Sparse rules apply to sparse matrices, too; all others to dense ones and scalars.
	Sparse bool
	// Where are conditions that must hold besides (condition.go).
	Where []string
	// Wrong are rewrites that look alike and are no rules; a test finds values for which each gives
	// other bits.
	Wrong []Wrong
}

// Wrong is a counterexample.
type Wrong struct {
	Rewrite string
	Where   []string // conditions under which it is still wrong
	Why     string
}

// Rules is every rule, exact ones first, in the order in which they are tried.
func Rules() []Rule {
	var out []Rule
	for _, family := range [][]Rule{elementwise(), choices(), moves(), reductions(), products(), canonical()} {
		out = append(out, family...)
	}
	return out
}
