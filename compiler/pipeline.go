package compiler

import (
	"context"
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/compiler/pass"
	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/op"
)

// PassInfo describes a pass for help and for tests that switch passes off.
type PassInfo struct {
	Name string
	Doc  string
	// Required passes cannot be switched off: later passes or the runtime need their form.
	Required bool
	// Canonical passes define the meaning of a program; the reference evaluator sees their
	// result. All others keep every bit.
	Canonical bool
	// After lists the passes that must come before, and why.
	After []After
}

// After is an ordering constraint.
type After struct{ Pass, Why string }

// state is passed from pass to pass.
type state struct {
	g       *ir.Graph
	program *ir.Graph // after the canonical passes, no longer changed; nil if not kept
	parts   *nodes.Partitioned
	owner   []int32
	prio    []int32
	o       *Options
	ctx     context.Context
	// rows says that ranks share matrices by rows alone: none is cut into blocks.
	rows    bool
	upright bool    // matrices of one row are made columns
	speedup float64 // see layout.Placed
	shares  string  // see plan.Plan
	because ir.Node // the operator that keeps ranks from sharing rows; its Op is nil if none is known
	rest    []step  // the passes to come
	tried   []ran   // those of them that the pass by-rows has run already
}

// ran is one run of a pass, and the graph that it made: nil if the pass is switched off.
type ran struct {
	PassStat
	g *ir.Graph
}

// local reports that matrices stay whole where they can.
func (s *state) local() bool { return (s.o.Ranks == 1 || s.rows) && !s.o.Blocks }

type step struct {
	PassInfo
	run func(s *state) error
}

// pipeline lists the passes in order. `elaborate` and its part `contract` come first (compile.go),
// because they make the graph.
var pipeline = []step{
	{PassInfo{Name: "drop-dead", Canonical: true, Required: true,
		Doc: "drops what no emit or assert needs"},
		func(s *state) error {
			s.g = pass.DropAllDead(s.g)
			return nil
		}},
	{PassInfo{Name: "ahead",
		Doc:   "moves what a branch with effects computes to a branch in front of it, which ranks share",
		After: []After{{"drop-dead", "what nothing needs is not moved"}}},
		func(s *state) error {
			if s.o.Ranks > 1 {
				s.g = pass.Ahead(s.g, s.o.Table, s.o.Sizes.Spread)
			}
			return nil
		}},
	{PassInfo{Name: "by-rows",
		Doc:   "chooses whether ranks share all matrices by rows, or blocks of them",
		After: []After{{"drop-dead", "what nothing needs costs nothing"}}},
		func(s *state) error {
			if s.o.Ranks > 1 && !s.o.Blocks && !pass.Tiled(s.g) {
				s.tryRows()
			} else if s.o.Ranks > 1 && pass.Tiled(s.g) {
				s.shares = "in tiles, as the program says"
			}
			return nil
		}},
	{PassInfo{Name: "stand",
		Doc:   "makes columns of matrices of one row, also of those that loops carry, where ranks share rows or a row is multiplied by a large matrix",
		After: []After{{"by-rows", "it says whether they do"}}},
		stand},
	{PassInfo{Name: "codes",
		Doc:   "makes a matrix of codes that cannot fail behind a check of its codes, and takes it into loops",
		After: []After{{"drop-dead", "dead readers would need the matrix"}, {"by-rows", "it says whether the matrix stays whole"}}},
		whole(func(g *ir.Graph, table *op.Table, _ nodes.Sizes) *ir.Graph { return pass.Codes(g, table) })},
	{PassInfo{Name: "panels",
		Doc: "writes a product over a long inner size as a tree of products of panels, where its operands are cut or its result is large",
		After: []After{{"drop-dead", "dead readers would seem to cut the operands"}, {"stand", "a row of many columns would seem to be cut"},
			{"codes", "a matrix of codes that is not built cuts no product"}}},
		func(s *state) error {
			sizes := s.o.Sizes
			sizes.Loops, sizes.Rows = s.o.Ranks > 1, s.rows
			panels := func(all bool) func(g *ir.Graph) *ir.Graph {
				return func(g *ir.Graph) *ir.Graph { return pass.Panels(g, s.o.Table, sizes, all) }
			}
			g := nodes.Points(s.g, panels(true)) // a parfor has phases for products
			g = nodes.Bodies(g, panels(s.o.Blocks))
			s.g = pass.Panels(g, s.o.Table, sizes, !s.local())
			return nil
		}},
	{PassInfo{Name: "whole-rows",
		Doc:   "makes elementwise operators on whole matrices of a parfor that runs them on rows",
		After: []After{{"drop-dead", "dead nodes of a body would keep it a loop"}}},
		func(s *state) error {
			s.g = pass.WholeRows(s.g, s.o.Table)
			return nil
		}},
	{PassInfo{Name: "segments",
		Doc:   "orders the rows of a column once for a parfor that takes the rows where the column equals its index",
		After: []After{{"drop-dead", "dead masks would be ordered"}, {"whole-rows", "masks are in the body of the parfor still"}}},
		everywhere(func(s *state, g *ir.Graph) *ir.Graph { return pass.Segments(g, s.o.Table) })},
	{PassInfo{Name: "hoist",
		Doc:   "moves what is the same in all rounds of a loop in front of it; constants move after simplify, whose rules match them",
		After: []After{{"drop-dead", "dead nodes are not moved"}, {"panels", "slices for panels move, too"}}},
		deep(func(s *state, g *ir.Graph) *ir.Graph { return pass.Hoist(g, s.o.Table, false) })},
	{PassInfo{Name: "merge-equal",
		Doc:   "computes equal pure expressions once, also those that a branch reads again; never merges sends",
		After: []After{{"drop-dead", "dead copies need no merging"}, {"hoist", "what two loops share is then in one place"}}},
		everywhere(func(s *state, g *ir.Graph) *ir.Graph { return pass.ReadAbove(pass.MergeEqual(g), s.o.Table) })},
	{PassInfo{Name: "simplify",
		Doc:   "applies the exact rewrite rules (flowrun explain --rules); each can be switched off by name",
		After: []After{{"merge-equal", "rules ask whether two inputs are the same node"}}},
		func(s *state) error {
			off := slices.Concat(s.o.Disable, rule.Elsewhere(s.rows, s.upright))
			err := everywhere(func(s *state, g *ir.Graph) *ir.Graph { return simplify(g, s.o.Table, off) })(s)
			if err != nil || slices.Contains(off, "hoist") {
				return err
			}
			return deep(func(s *state, g *ir.Graph) *ir.Graph {
				if g = pass.Hoist(g, s.o.Table, true); !slices.Contains(off, "merge-equal") {
					g = pass.MergeEqual(g)
				}
				return g
			})(s)
		}},
	{PassInfo{Name: "row-rounds",
		Doc:   "makes a loop over rows of a loop whose matrices have rows that know nothing of one another",
		After: []After{{"hoist", "what is the same in all rounds has left the loop"}, {"simplify", "its operators are none of a program any more"}}},
		whole(pass.RowRounds)},
	{PassInfo{Name: "part-sorts",
		Doc:   "orders only the rows that are read, where all readers of a sort are slices and elements; on several ranks where that takes less time than the whole order that they make together",
		After: []After{{"merge-equal", "all readers of a sort must be known"}, {"simplify", "a slice of what is made of a sort becomes one of the sort"}}},
		func(s *state) error {
			ranks := 1
			if s.rows {
				ranks = s.o.Ranks
			}
			s.g = layout.PartSorts(s.g, s.o.Table, ranks, s.o.Sizes)
			return nil
		}},
	{PassInfo{Name: "rounds",
		Doc:   "makes one task, and a few compiled loops, of a loop over scalars and matrices that a cache holds",
		After: []After{{"hoist", "what is the same in all rounds has left the loop"}, {"simplify", "its operators are none of a program any more"}}},
		func(s *state) error {
			s.g = pass.Rounds(s.g, s.o.Table, s.o.Ranks <= 1 && !s.o.Blocks)
			return nil
		}},
	{PassInfo{Name: "lines",
		Doc:   "computes only the elements that a round changes, if a parfor changes one in each row of a carried matrix",
		After: []After{{"simplify", "its rules make branches of what reads old elements"}, {"rounds", "a loop that a cache holds is one task"}}},
		func(s *state) error {
			if s.o.Ranks > 1 || s.o.Blocks { // ranks share the places of a parfor, not those of put
				return nil
			}
			return deep(func(s *state, g *ir.Graph) *ir.Graph { return pass.Lines(g, s.o.Table) })(s)
		}},
	{PassInfo{Name: "represent",
		Doc:   "makes nearly full products of sparse matrices dense where no program can tell",
		After: []After{{"merge-equal", "all readers of a product must agree"}, {"simplify", "a product that is not built has no storage form"}}},
		deep(func(s *state, g *ir.Graph) *ir.Graph { return pass.Represent(g, s.o.Table) })},
	{PassInfo{Name: "fuse-entries",
		Doc:   "computes elementwise operators at the entries of a sparse matrix that takes their results there alone, and reduces dense results of sparse matrices there",
		After: []After{{"merge-equal", "all readers of a result must agree"}, {"simplify", "its rules know operators, not chains"}}},
		deep(func(s *state, g *ir.Graph) *ir.Graph { return pass.AtEntries(g, s.o.Table, s.o.Ranks == 1) })},
	{PassInfo{Name: "fold-groups",
		Doc:   "adds rows by group in place of a product with a matrix of codes",
		After: []After{{"panels", "what is left is one product"}, {"merge-equal", "a repeated product would be folded twice"}, {"simplify", "its rules know matrices of codes"}}},
		func(s *state) error {
			s.g = nodes.Points(s.g, func(g *ir.Graph) *ir.Graph {
				return pass.FoldGroupsOfPoints(g, s.o.Table, s.o.Sizes)
			})
			return whole(func(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
				return pass.CompareCodes(pass.FoldGroups(g, table, sizes), table)
			})(s)
		}},
	{PassInfo{Name: "columns",
		Doc:   "makes a loop over columns of reductions of columns that read running values",
		After: []After{{"hoist", "what is the same in all rounds has left the loop"}, {"merge-equal", "a value with two readers is stored; merging shows which are"}, {"simplify", "rules do not look into bodies"}}},
		whole(pass.Columns)},
	{PassInfo{Name: "fuse",
		Doc:   "makes one loop of elementwise operators and of what reduces their results",
		After: []After{{"hoist", "loop invariants have left the loop and are stored once"}, {"simplify", "rules know operators, not maps, and do not look into bodies"}, {"merge-equal", "an expression with two readers is stored; merging shows which are"}}},
		func(s *state) error {
			s.g = nodes.Points(s.g, func(g *ir.Graph) *ir.Graph { return pass.FuseInPoints(g, s.o.Table) })
			return deep(func(s *state, g *ir.Graph) *ir.Graph { return pass.DropDead(pass.Fuse(g, s.o.Table)) })(s)
		}},
	{PassInfo{Name: "keys",
		Doc:   "counts and adds rows by key where they are made, without storing them, and prepares edges of bins once for all points of a parfor",
		After: []After{{"fold-groups", "it makes the reductions by key"}, {"fuse", "a fused chain is one member of a group"}}},
		func(s *state) error {
			s.g = nodes.Deep(s.g, func(g *ir.Graph) *ir.Graph { return pass.PrepareOnce(g, s.o.Table) })
			return whole(pass.Keys)(s)
		}},
	{PassInfo{Name: "outer-rows",
		Doc:   "makes one loop of what rows and columns make and what reduces or multiplies the rows of that, without storing matrices",
		After: []After{{"fuse", "a fused chain is one member of a group"}, {"keys", "what it takes has a loop over rows already"}}},
		whole(pass.OuterRows)},
	{PassInfo{Name: "fuse-products",
		Doc:   "computes a tall product inside the map-reduce over its rows that reads it",
		After: []After{{"fuse", "it makes the map-reduces"}, {"keys", "a product of narrow rows is then part of a loop"}}},
		whole(pass.FuseProducts)},
	{PassInfo{Name: "group",
		Doc:   "makes chains of elementwise operators, the slices and borders between them, and loops over points one loop",
		After: []After{{"fuse", "a fused chain is one member of a group"}, {"fuse-products", "a product inside a map-reduce is not read by a chain"}}},
		whole(pass.Group)},
	{PassInfo{Name: "partition",
		Doc:   "cuts large matrices into blocks and operators on them into tasks",
		After: []After{{"fuse", "a fused chain is cut once, not operator by operator"}}},
		func(s *state) error {
			sizes := s.o.Sizes
			sizes.Whole, sizes.Rows = s.local(), s.rows
			sizes.Loops = !s.local() && !s.o.Blocks
			cut := func(g *ir.Graph, sizes nodes.Sizes) (*nodes.Partitioned, error) {
				return pass.Partition(s.ctx, g, s.o.Table, sizes, 2*s.o.maxTasks())
			}
			// Cutting a body changes what its loop takes and gives.
			around := func(g *ir.Graph) *ir.Graph {
				g = pass.CarryBlocks(pass.DropStored(g), s.o.Table)
				if !slices.Contains(s.o.Disable, "hoist") {
					g = pass.Hoist(g, s.o.Table, true)
				}
				return g
			}
			inside := sizes // one rank runs a loop, however many there are
			inside.Whole = !s.o.Blocks
			var fails error
			g := nodes.Bodies(s.g, func(g *ir.Graph) *ir.Graph {
				if fails != nil {
					return g
				}
				p, err := cut(around(g), inside)
				if err != nil {
					fails = err
					return g
				}
				return p.DropDead().Graph
			})
			if fails != nil {
				return fails
			}
			p, err := cut(around(g), sizes)
			if err != nil {
				return err
			}
			s.parts, s.g = p.DropDead(), nil
			s.g = s.parts.Graph
			return nil
		}},
	{PassInfo{Name: "row-blocks",
		Doc:   "runs reductions of rows and operators on their results by blocks of rows, without storing intermediate matrices",
		After: []After{{"partition", "the matrices that it cuts are in blocks already"}, {"fuse", "a chain is one member of a group"}}},
		func(s *state) error {
			sizes := s.o.Sizes
			sizes.Loops = s.o.Ranks > 1
			rows := func(g *ir.Graph) *ir.Graph { return pass.RowBlocks(g, s.o.Table, sizes) }
			run := nodes.Deep
			// a rank owns blocks; loops are on one rank
			if !s.local() {
				run = nodes.Bodies
			}
			g := run(s.g, rows)
			switch {
			case g == s.g || s.parts == nil:
			case len(s.parts.Block) == g.Len(): // only bodies have changed
				s.parts.Graph = g
			default: // none are left on the one rank
				s.parts = nil
			}
			s.g = g
			return nil
		}},
	{PassInfo{Name: "fuse-epilogues",
		Doc: "runs a chain of elementwise operators on each part of a product while it is in a cache, and a product over many rows on each block of rows of a factor",
		After: []After{{"partition", "the chain runs on blocks of products"},
			{"row-blocks", "operators that join a group of rows are read with it"}}},
		func(s *state) error {
			sizes := s.o.Sizes
			sizes.Loops, sizes.Rows = s.o.Ranks > 1, s.rows
			along := func(g *ir.Graph) *ir.Graph {
				if s.o.Ranks > 1 {
					return g // ranks share the two loops by rows and by panels
				}
				return pass.AlongPanels(g, s.o.Table)
			}
			g := nodes.Bodies(s.g, func(g *ir.Graph) *ir.Graph {
				return pass.DropDead(along(pass.FuseEpilogues(g, s.o.Table, sizes, 1, nil)))
			})
			if s.parts == nil || s.parts.Graph != s.g {
				ranks := s.o.Ranks
				if s.rows {
					ranks = 1
				}
				s.parts, s.g = nil, pass.DropDead(along(pass.FuseEpilogues(g, s.o.Table, sizes, ranks, nil)))
				return nil
			}
			if g = pass.FuseEpilogues(g, s.o.Table, s.o.Sizes, s.o.Ranks, s.parts.Block); g != s.g {
				s.parts.Graph = g // a copy, whose places are the same
				s.g = s.parts.DropDead().Graph
			}
			if g = along(s.g); g != s.g { // on one rank, where no place counts
				s.parts = &nodes.Partitioned{Graph: g, Block: make([]nodes.Block, g.Len())}
				s.g = s.parts.DropDead().Graph
			}
			return nil
		}},
	{PassInfo{Name: "narrow",
		Doc:   "computes only the lower triangle where nothing else is read (gemm to syrk)",
		After: []After{{"partition", "only diagonal tiles qualify"}}},
		func(s *state) error {
			// nothing was cut or fused; Narrow changes nodes in place
			if s.g == s.program {
				s.g = s.g.Clone()
			}
			g := nodes.Bodies(s.g, func(g *ir.Graph) *ir.Graph { return pass.Narrow(g, s.o.Table) })
			s.g = pass.Narrow(g, s.o.Table) // of a copy, the places are the same
			if s.parts != nil {
				s.parts.Graph = s.g
			}
			return nil
		}},
	{PassInfo{Name: "keep",
		Doc:   "stores loop invariants that may fail or are in a branch when they are first computed",
		After: []After{{"hoist", "what cannot fail and is always needed has left the loop"}, {"fuse", "a fused chain is stored as a whole"}, {"partition", "marked nodes are no longer cut"}}},
		func(s *state) error {
			s.g = pass.Keep(s.g)
			if s.parts != nil {
				s.parts.Graph = s.g
			}
			return nil
		}},
	{PassInfo{Name: "place", Required: true,
		Doc:   "assigns tasks to ranks and inserts exchanges where values cross",
		After: []After{{"partition", "ranks own blocks"}, {"narrow", "an exchange reads all of its input"}}},
		func(s *state) error {
			if s.parts == nil || s.parts.Graph != s.g {
				s.parts = &nodes.Partitioned{Graph: s.g, Block: make([]nodes.Block, s.g.Len())}
			}
			s.parts.Unshared = s.o.Unshared
			sizes := s.o.Sizes
			sizes.Whole = s.rows
			p := layout.Place(s.parts, s.o.Ranks, s.o.Table, sizes)
			s.g, s.owner, s.speedup = p.Graph, p.Owner, p.Speedup
			if s.rows {
				s.because = p.Slowest
			}
			return nil
		}},
	{PassInfo{Name: "inparts",
		Doc:   "reads files part by part in loops over their rows, where memory is scarce",
		After: []After{{"place", "ranks share the rows of loops and of files"}}},
		func(s *state) error {
			s.readInParts()
			return nil
		}},
	{PassInfo{Name: "order",
		Doc:   "sets each task's priority to its longest path to the end, by measured cost, or to an order that keeps few matrices in memory",
		After: []After{{"place", "exchanges are on the path"}}},
		func(s *state) error {
			_, cut := s.parts.Cut()
			s.prio = pass.Priorities(s.g, s.o.Rates, s.o.Ranks == 1 && !cut)
			return nil
		}},
}

// deep runs a pass on every region too.
func deep(f func(s *state, g *ir.Graph) *ir.Graph) func(s *state) error {
	return func(s *state) error {
		s.g = nodes.Deep(s.g, func(g *ir.Graph) *ir.Graph { return f(s, g) })
		return nil
	}
}

// everywhere is deep, with the bodies of parfor.
func everywhere(f func(s *state, g *ir.Graph) *ir.Graph) func(s *state) error {
	return func(s *state) error {
		s.g = nodes.Everywhere(s.g, func(g *ir.Graph) *ir.Graph { return f(s, g) })
		return nil
	}
}

// whole runs a pass on graphs whose matrices are not cut into blocks: bodies of loops, which one
// rank runs, and the program on one rank.
func whole(f func(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph) func(s *state) error {
	return func(s *state) error {
		if s.o.Blocks {
			return nil
		}
		sizes := s.o.Sizes
		sizes.Loops, sizes.Rows = s.o.Ranks > 1, s.rows
		fold := func(g *ir.Graph) *ir.Graph { return f(g, s.o.Table, sizes) }
		if s.g = nodes.Bodies(s.g, fold); s.local() {
			s.g = fold(s.g)
		}
		return nil
	}
}

// Rule is a row of the table of rewrite rules.
type Rule = rule.Rule

// Rules returns the table, for help and for tests that switch rules off.
func Rules() []Rule { return rule.Rules() }

// Passes returns the pipeline, for help and tests.
func Passes() []PassInfo {
	out := []PassInfo{
		{Name: "elaborate", Doc: "instantiates functions, unrolls for, versions channel arrays", Required: true, Canonical: true},
		{Name: "contract", Doc: "makes products accumulate (gemm); runs inside elaborate, statement by statement", Required: true, Canonical: true},
	}
	for _, s := range pipeline {
		out = append(out, s.PassInfo)
	}
	return out
}
