package rule

// This file defines Rule, a row of the table.

// Class says whether a rule keeps bits.
type Class uint8

// The classes.
const (
	Exact     Class = iota // keeps every bit; can be switched off
	Canonical              // defines the meaning; always on
)

func (c Class) String() string { return [...]string{"exact", "canonical"}[c] }

// Rule is one row of the table. testdata/NAME.txtar is its example: a graph, and the result of the
// rule alone.
type Rule struct {
	// Name is a verb phrase, for --disable and reports.
	Name  string
	Class Class
	// Doc says in one or two sentences what the rule gains and why it is allowed: why the bits
	// stay, or, for a canonical rule, why the result is no less accurate.
	Doc string
	// Rewrites are `pattern -> replacement`. A rewrite applies only if the types agree: `mul(x,
	// 1) -> x` does not apply to a bool x, whose product is an i64.
	Rewrites []string
	// Sparse rules also apply to sparse matrices, the others only to dense ones and scalars.
	Sparse bool
	// Alone rules apply only where no ranks share the rows of matrices, and Shared rules only where they
	// do.
	Alone, Shared bool
	// Upright rules apply only where matrices of one row are made columns (pass stand).
	Upright bool
	// Where lists further conditions (condition.go).
	Where []string
	// Wrong lists similar rewrites that are no rules. A test finds values for which each gives
	// other bits.
	Wrong []Wrong
}

// Wrong is a counterexample.
type Wrong struct {
	Rewrite string
	Where   []string // conditions under which it is still wrong
	Why     string
}

// foldConstants is a rule implemented in code: an operator on constants is a constant.
const foldConstants = "fold-constants"

// standRows makes columns of rows. Where it applies, no other rule may make them rows again.
const standRows = "stand-rows"

// orderChain is the rule that Chain implements. Its text shows one step.
const orderChain = "order-chain"
