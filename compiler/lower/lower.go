package lower

import (
	"context"
	"io/fs"

	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// Input is a program and everything that its meaning depends on.
type Input struct {
	File     *ast.File
	Files    *source.FileSet
	Table    *op.Table
	Sets     []Setting
	MaxTasks int
	Ranks    int // of the plan
	// Std holds the library, which every program sees.
	Std fs.FS
	// Load reads an imported file by path.
	Load func(path string) ([]byte, error)
	// Path lists the directories that Load searches after that of the importing file, in order.
	Path []string
	// List lists a directory from which Load reads, for suggestions; nil: unknown.
	List func(path string) ([]fs.DirEntry, error)
	// Contract makes the canonical form of one expression: the nodes from `from` on, with value
	// root. It returns the new root. With compact it drops nodes that root does not need. See
	// pass.Contraction. It runs statement by statement, so that a sent expression is one node
	// before the next is elaborated, and a million sends need the memory of a million nodes.
	Contract func(g *ir.Graph, from, root ir.ID, compact bool) ir.ID
	// Argument is Contract for an argument, which the expression around the call may still
	// absorb: pass.Contraction.Argument.
	Argument func(g *ir.Graph, from, root ir.ID, compact bool) ir.ID
	// Schedule checks the name of a self-scheduling technique; nil accepts all names.
	Schedule func(name string) error
	// Rules are the canonical rewrite rules, applied to products written as operands. Without
	// them chains of products are computed from left to right.
	Rules *rule.Set
}

// Setting is one `--set name=value`.
type Setting struct{ Name, Text string }

// Param is a parameter of the program, for help and reports.
type Param struct {
	Name, Type, Default, Doc, In, Value string
	Required                            bool
	Span                                source.Span
}

// Output is the elaborated program.
type Output struct {
	Graph  *ir.Graph
	Params []Param
}

// lowerer is one elaboration.
type lowerer struct {
	ctx      context.Context
	in       Input
	table    *op.Table
	g        *ir.Graph
	constant *op.Def // the row const
	diags    source.Diagnostics
	params   []Param
	used     map[string]bool // settings that named a param

	top    *scope // the program's own names
	scope  *scope
	std    *library // the library's functions; nil until first used
	loop   uint32
	loopAt []int // the current loop indices, as a loop context holds them (indexOf)
	nest   int   // scope number of the current loop nest, -1 outside loops
	nests  map[nestKey]int
	call   int32
	calls  []*ast.Call // the instantiation trail
	callee *fun        // the function whose parameter's type is being compared
	// what was emitted to each sink, by its cleaned path; "" is standard output
	effect map[string]written
	assert ir.ID
	// refuted is the statement's first assert that is known to be false, or nil
	refuted *refuted
	region  *region // the loop or branch being elaborated; nil: the program

	pure       bool // in the body of a parfor
	worked     int  // calls and rounds so far
	sends      int  // sends and channel arrays so far: nodes that others may name
	broken     bool // a loop ended early: do not report missing sends
	onlyParams bool
	imports    []string
	checked    []*ast.File // the program and what it imports
	session    *Entry      // the session entry being elaborated; nil: a program
	ahead      []string    // functions that the entry declares

	typeMemo typeMemo
	sig      op.Sig // scratch of apply
	types    []types.Type
}

func newLowerer(ctx context.Context, in Input) *lowerer {
	l := &lowerer{ctx: ctx, in: in, table: in.Table, constant: in.Table.Must("const"), g: ir.New(), used: map[string]bool{}, nest: -1,
		nests: map[nestKey]int{}, effect: map[string]written{}, assert: ir.None}
	l.top = &scope{}
	l.scope = l.top
	return l
}

// refuted is an assert that is known to be false before the run. It fails the run, so a later fault
// of the same statement does not matter: a function that first asserts what it wants is heard
// first.
type refuted struct {
	at      source.Span
	message string
	calls   []*ast.Call
	where   string
}

// because returns the diagnostic of the assert instead of d, a later mistake.
func (r *refuted) because(d source.Diagnostic) source.Diagnostic {
	text := "assertion failed"
	if r.message != "" {
		text += ": " + r.message
	}
	return source.Errorf("E603", r.at, "%s", text).WithHelp("after it: %s", d.Message)
}

// bail unwinds to the statement being elaborated. Its diagnostic is recorded.
type bail struct{}

// fail records a diagnostic and abandons the statement. It adds the trail of calls, innermost
// first.
func (l *lowerer) fail(d source.Diagnostic) {
	where := l.indices()
	if r := l.refuted; r != nil {
		d, l.calls, l.refuted, where = r.because(d), r.calls, nil, r.where
	}
	for i := len(l.calls) - 1; i >= 0; i-- {
		d = d.WithNote(l.calls[i].Span(), "in this call")
	}
	d.Message += where
	l.diags = append(l.diags, l.in.Files.ToUser(d))
	panic(bail{})
}

func (l *lowerer) failf(code source.Code, at source.Span, format string, args ...any) {
	l.fail(source.Errorf(code, at, format, args...))
}

// try runs f and reports whether it ended without a bail.
func (l *lowerer) try(f func()) (ok bool) {
	if len(l.calls) == 0 {
		l.refuted = nil
	}
	saved := *l
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(bail); !is {
				panic(r)
			}
			l.scope, l.loop, l.loopAt, l.nest = saved.scope, saved.loop, saved.loopAt, saved.nest
			l.call, l.calls, l.callee, l.imports = saved.call, saved.calls, nil, saved.imports
			l.pure = saved.pure
			l.g, l.nests, l.effect, l.assert, l.region = saved.g, saved.nests, saved.effect, saved.assert, saved.region
			ok = false
		}
	}()
	f()
	return true
}

// origin returns the origin of a node made now.
func (l *lowerer) origin(at source.Span) ir.Origin {
	return ir.Origin{Span: at, Call: l.call}.InLoop(l.loop)
}

// konst makes a const node.
func (l *lowerer) konst(s value.Scalar, at source.Span) ir.ID {
	var a []op.Attr
	switch s.Elem {
	case types.F64:
		a = append(a, op.Attr{Name: "value", Val: op.Float(s.F)})
	case types.F32:
		a = append(a, op.Attr{Name: "value", Val: op.Float(s.F)}, op.Attr{Name: "elem", Val: op.Str("f32")})
	case types.I64:
		a = append(a, op.Attr{Name: "value", Val: op.Val{Kind: op.IntVal, I: s.I}})
	case types.Bool:
		a = append(a, op.Attr{Name: "value", Val: op.Bool(s.I != 0)})
	case types.Str:
		a = append(a, op.Attr{Name: "value", Val: op.Str(s.S)})
	default:
		l.failf("L009", at, "a constant of type %v is not built yet", s.Elem)
	}
	return l.g.Add(l.constant, op.MakeAttrs(a...), types.ScalarOf(s.Elem), l.origin(at))
}

// limit bounds the nodes of the graph, and lists and arrays. The passes leave about one node of a
// task's expression.
func (l *lowerer) limit() int { return 4 * l.in.MaxTasks }

// work counts a function call or a round of a `for`. It bounds the compiler's work even where a
// program makes no tasks, as in a chain of functions that each call the one before twice.
func (l *lowerer) work(at source.Span) {
	most := workPerTask * l.in.MaxTasks
	switch l.worked++; {
	case l.worked > most+1:
		panic(bail{}) // it was said
	case l.worked > most:
		l.fail(source.Errorf("E410", at, "there are more than %d calls and rounds of `for` before the run", most).
			WithHelp("bind a result that is used twice to a name; what needs so many rounds belongs into the run (iterate, parfor, operators of whole matrices); --max-tasks moves the bound"))
	}
}

// workPerTask is the number of calls and rounds allowed per allowed task. With two million tasks
// the bound is reached after 5 to 10 seconds.
const workPerTask = 8

// add makes a node after applying the operator's type rule. spans are those of the arguments, for
// the diagnostic.
func (l *lowerer) add(d *op.Def, attrs *op.Attrs, at source.Span, spans []source.Span, in ...ir.ID) ir.ID {
	if l.g.Len() >= l.limit() {
		l.failf("E410", at, "the program unrolls to more than %d tasks", l.in.MaxTasks)
	}
	if t := l.typeMemo.find(l.g, d, attrs, in); t != nil {
		return l.g.Add(t.row, attrs, t.typ, l.origin(at), in...)
	}
	l.types = l.g.Types(l.types[:0], in...)
	row := l.sparseRow(d)
	l.sig = op.Sig{Def: row, In: l.types, Attrs: attrs}
	t, err := row.Type(&l.sig)
	if err != nil {
		l.fault(row, err, at, spans)
	}
	if row.OfPairs != nil {
		return l.eachPair(row.OfPairs(attrs), at, spans, in[0], in[1])
	}
	l.typeMemo.note(l.g, d, attrs, in, row, t)
	return l.g.Add(row, attrs, t, l.origin(at), in...)
}

// eachPair adds the elementwise operator d on two vectors. It makes a column of the first and a row of
// the second.
func (l *lowerer) eachPair(d *op.Def, at source.Span, spans []source.Span, a, b ir.ID) ir.ID {
	turn := l.table.Must("t")
	if t := l.g.Type(a); t.Rows == 1 && t.Cols != 1 {
		a = l.add(turn, nil, at, spans, a)
	}
	if l.g.Type(b).Rows != 1 {
		b = l.add(turn, nil, at, spans, b)
	}
	return l.add(d, nil, at, spans, a, b)
}

// typeMemo holds the results of the last calls of type rules. In all rounds of a `for` an expression
// has the same operators, mostly on operands of the same types. It would be wrong for a rule that reads
// anything but its signature.
type typeMemo struct {
	last [4]typedCall
	next int // the entry that the next call takes, modulo the length
}

// typedCall is a call, by the type indices of its n operands in graph g, and its result: the row and
// the type.
type typedCall struct {
	g     *ir.Graph
	def   *op.Def
	attrs *op.Attrs
	in    [3]uint32
	n     int
	row   *op.Def
	typ   types.Type
}

// find returns the entry of a call, or nil. It is valid until the next note.
func (l *typeMemo) find(g *ir.Graph, d *op.Def, attrs *op.Attrs, in []ir.ID) *typedCall {
next:
	for i := range l.last {
		t := &l.last[i]
		if t.def != d || t.g != g || t.attrs != attrs || t.n != len(in) {
			continue
		}
		for k, x := range in {
			if t.in[k] != g.TypeIndex(x) {
				continue next
			}
		}
		return t
	}
	return nil
}

// note stores a call. Calls without operands are left out, because their types may depend on files.
func (l *typeMemo) note(g *ir.Graph, d *op.Def, attrs *op.Attrs, in []ir.ID, row *op.Def, typ types.Type) {
	t := &l.last[l.next%len(l.last)]
	if len(in) == 0 || len(in) > len(t.in) || !d.Laws.Has(op.Pure) {
		return
	}
	l.next++
	*t = typedCall{g: g, def: d, attrs: attrs, n: len(in), row: row, typ: typ}
	for k, x := range in {
		t.in[k] = g.TypeIndex(x)
	}
}

// sparseRow returns the row for a call of d with arguments of l.types.
func (l *lowerer) sparseRow(d *op.Def) *op.Def {
	for _, t := range l.types {
		if t.IsSparse() {
			if s := l.table.Sparse(d); s != nil {
				return s
			}
			return d
		}
	}
	return d
}
