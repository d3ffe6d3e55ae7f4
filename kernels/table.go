package kernels

// This file assembles the operator table. It also defines the rows that compute nothing: arg, the
// parameter of a region, parfor, and the rows whose meaning is the engines' own (op.Control).

import (
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/blas"
	"flow/kernels/construct"
	"flow/kernels/define"
	"flow/kernels/elementwise"
	"flow/kernels/encode"
	"flow/kernels/fourier"
	"flow/kernels/inout"
	"flow/kernels/linalg"
	"flow/kernels/move"
	"flow/kernels/order"
	"flow/kernels/reduce"
	"flow/kernels/scan"
	"flow/kernels/sparse"
)

// Table is the operator table with the kernel set of that name for linear algebra ("" or "auto":
// the best one on this machine). The error names the sets there are. The rows keep scratch memory
// of their own, so one table for a process is enough; it is safe for concurrent use.
func Table(set string) (*op.Table, error) { return TableReading(set, &inout.Input{}) }

// TableReading is Table with the streams that read finds in in, and with rows of the caller's own
// after those of Flow. Tables of one kernel set share the rows that know neither.
func TableReading(set string, in *inout.Input, own ...*op.Def) (*op.Table, error) {
	kernels, err := blas.Select(set)
	if err != nil {
		return nil, err
	}
	made, ok := shared.Load(kernels.Name)
	if !ok {
		made, _ = shared.LoadOrStore(kernels.Name, sharedRows(kernels))
	}
	rows := made.(*setRows)
	memo := &rows.memo
	if len(own) > 0 {
		memo = new(op.Memo) // rules may match them
	}
	reading, last := define.Possible(define.Bounded(inout.Rows(in))...), define.Possible(define.Bounded(define.Resolved(own))...)
	return memo.NewTable(slices.Concat(rows.first, reading, rows.then, last)...)
}

// setRows is what tables of one kernel set share: the rows before those that read, the rows after them,
// and what is derived from both. No rule names a row that reads.
type setRows struct {
	first, then [][]*op.Def
	memo        op.Memo
}

// shared has the *setRows of each kernel set by its name.
var shared sync.Map

// sharedRows makes the rows of one kernel set for shared.
func sharedRows(kernels *blas.Set) *setRows {
	run := &engine{}
	maps := told(append(run.executes(append(elementwise.Rows(), elementwise.Shorthands()...)), elementwise.Texts()))
	return &setRows{
		first: define.Possible(define.Bounded(
			define.Resolved(maps),
			define.Resolved(reducingRows(run.folded(reduce.Rows()), axisRows)),
			construct.Rows(),
			fused(),
			loops(),
			define.Resolved(denseProducts(kernels)),
			define.Resolved(move.Rows()),
		)...),
		then: define.Possible(define.Bounded(
			controls(),
			define.Resolved(reducingRows(run.folded(reduce.Statistics()), axisRows)),
			define.Resolved(scan.Rows()),
			define.Resolved(order.Rows()),
			define.Resolved(encode.Rows()),
			define.Resolved(elementwise.Pairings(maps)),
			construct.Sample(),
			define.Resolved(linalg.Decompositions(kernels)),
			define.Resolved([]*op.Def{linalg.Trace()}),
			inout.Pictures(),
			define.Resolved(fourier.Rows()),
			define.Resolved(sparse.Rows(maps)),
		)...),
	}
}

// fused is the rows that fusion makes.
func fused() []*op.Def {
	run := &engine{}
	out := pipelines(run)
	reducingRows(out[1:], pipedRows)
	return append(out, define.Resolved([]*op.Def{sparse.AtEntries(out[0])})[0], byRows(), nestRow(out[0]), roundsRow())
}

// controls is the rows of the graph itself.
func controls() []*op.Def {
	return []*op.Def{{
		Name:   "arg",
		Role:   op.Argument,
		Hidden: true,
		Doc:    "arg is a parameter of a region (the body of a map, a loop or a branch): the region's node gives its value.",
		Laws:   op.Pure | op.Total, // it is there before the region runs
	}, {
		Name:    "iterate",
		Hidden:  true,
		Doc:     "iterate runs its region round by round on carried values; the statement `iterate` makes it.",
		Type:    define.OwnType,
		Laws:    op.Pure,
		Control: op.Iterate,
	}, {
		Name:    "select",
		Hidden:  true,
		Doc:     "select runs one of two regions; an `if` on a value of the run makes it.",
		Type:    define.OwnType,
		Laws:    op.Pure,
		Control: op.Select,
	}, {
		Name:    "part",
		Hidden:  true,
		Doc:     "part is one of the results of an iterate or a select.",
		Args:    []op.Arg{{Name: "x"}, {Name: "at", Attr: true, Kind: op.IntVal}},
		Type:    partType,
		Laws:    op.Pure | op.View,
		Control: op.Part,
	}}
}

func partType(s *op.Sig) (types.Type, error) {
	if len(s.In) != 1 || s.In[0].Kind != types.Tuple {
		return types.Type{}, op.Faultf(0, define.CodeKind, "part takes a tuple")
	}
	f, at := s.In[0].Ext.Fields, s.Attrs.Int("at")
	if at < 0 || at >= len(f) {
		return types.Type{}, op.Faultf(-1, define.CodeKind, "part %d of a tuple of %d", at, len(f))
	}
	return f[at].Type, nil
}

// loops is the rows of loops that are one node.
func loops() []*op.Def {
	return []*op.Def{{
		Name:   "parfor",
		Role:   op.Points,
		Hidden: true,
		Doc:    "parfor evaluates a body for every point of an index space of one or two dimensions and collects the values; the compiler writes it for `parfor i in a..b { .. }`.",
		Args: []op.Arg{
			{Name: "x", Rest: true, Doc: "bounds that only the run knows, a lower and an upper one for each index, if there are any; then what the body reads"},
			{Name: "lo", Attr: true, Optional: true, Kind: op.IntsVal, Doc: "the first index of each dimension; absent if bounds are inputs"},
			{Name: "n", Attr: true, Optional: true, Kind: op.IntsVal, Doc: "the number of indices of each dimension; absent if bounds are inputs"},
			{Name: "by", Attr: true, Kind: op.IntsVal, Doc: "the step of each dimension"},
			{Name: "through", Attr: true, Optional: true, Kind: op.IntsVal, Doc: "of bounds that are inputs, 1 for each dimension whose upper one is included"},
			{Name: "names", Attr: true, Kind: op.StrVal, Doc: "the names of the indices, for failures"},
			{Name: "pairs", Attr: true, Optional: true, Kind: op.BoolVal, Doc: "the indices of position k are row k of the first input after the bounds"},
			{Name: "schedule", Attr: true, Optional: true, Kind: op.StrVal, Doc: "the self-scheduling technique"},
			{Name: "grain", Attr: true, Optional: true, Kind: op.IntVal, Doc: "the least number of iterations a chunk"},
			{Name: "place", Attr: true, Optional: true, Kind: op.StrVal, Doc: "where its rows lie on ranks: rows, replicated or one"},
		},
		Type: define.OwnType, // it follows from the body
		Ref:  parforRef,
		Laws: op.Pure,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			n := define.ElementCount(out)
			return op.Work{Flops: 100 * n, Bytes: 8 * n}
		},
		Kernel: parforLoop.Alone,
		Loop:   parforLoop,
		Nests:  parforNests,
	}, pairs()}
}
