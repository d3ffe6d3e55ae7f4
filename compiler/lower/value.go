package lower

import (
	"slices"
	"strconv"
	"strings"

	"flow/ir"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// kind is the kind of an elaboration-time value.
type kind uint8

const (
	poison kind = iota // replaces what already got a diagnostic
	konst              // a plan-time scalar
	edge               // a value of the run
	array              // a channel array
	function
	list
	tuple
	module
	typeName
)

// val is an elaboration-time value. It is small, because it is passed by value a dozen times for
// every task of a program.
type val struct {
	kind      kind
	untyped   bool         // of konst: a literal, which takes the type of its context
	product   bool         // of edge: an unnamed product, which canonical rules may change
	id        ir.ID        // of edge
	level     int32        // of edge: how many regions enclose the graph of id
	s         value.Scalar // of konst
	*compound              // of all other kinds; nil of these
}

// compound is the content of a value that is neither one constant nor one edge. It is immutable.
type compound struct {
	grid  *grid    // of array
	fn    *fun     // of function
	elems []val    // of list and tuple
	names []string // of a tuple whose parts have names
	mod   *scope   // of module
	alias *alias   // of typeName
}

func arrayVal(g *grid) val           { return val{kind: array, compound: &compound{grid: g}} }
func funVal(f *fun) val              { return val{kind: function, compound: &compound{fn: f}} }
func seqVal(k kind, elems []val) val { return val{kind: k, compound: &compound{elems: elems}} }
func moduleVal(m *scope) val         { return val{kind: module, compound: &compound{mod: m}} }

func (l *lowerer) edgeVal(id ir.ID) val { return val{kind: edge, id: id, level: l.level()} }

func intVal(n int) val            { return val{kind: konst, s: value.I64(int64(n))} }
func konstVal(s value.Scalar) val { return val{kind: konst, s: s} }
func (v *val) isInt() bool        { return v.kind == konst && v.s.Elem == types.I64 }
func (v val) isNaN() bool         { return v.kind == konst && v.s.F != v.s.F }
func (v val) isStr() bool         { return v.kind == konst && v.s.Elem == types.Str }

// what names a value's kind in messages.
func (l *lowerer) what(v val) string {
	switch v.kind {
	case konst:
		return "the " + v.s.Elem.String() + " " + v.s.String()
	case edge:
		return "a value of type " + l.g.Type(v.id).String()
	case array:
		return "the channel array " + v.grid.name
	case function:
		return "the function " + v.fn.name
	case list:
		return "a list"
	case tuple:
		if len(v.names) > 0 {
			return "a tuple of " + strings.Join(v.names, ", ")
		}
		return "a tuple"
	case module:
		return "an imported file"
	case typeName:
		return "the type " + v.alias.name
	}
	return "an erroneous value"
}

// fun is a function: a declaration or a lambda, with its defining scope.
type fun struct {
	name   string
	params []ast.Par
	result ast.Type
	expr   ast.Expr
	body   *ast.Block
	env    *scope
	span   source.Span
}

// scope is a block's names. Most scopes have a handful of names, where a linear search beats a map.
// The file's scope may be large and has one.
type scope struct {
	parent *scope
	names  []string
	vals   []val
	spans  []source.Span
	index  map[string]int // only in large scopes
	// the body of a fn: its parameters may shadow; its parent is the defining scope
	fn bool
	// signature: the types of a fn's parameters or result are being checked.
	signature bool
	// session: the names of a session, which later entries may bind again.
	session bool
}

func (s *scope) lookup(name string) (*val, bool) {
	for ; s != nil; s = s.parent {
		if i := s.find(name); i >= 0 {
			return &s.vals[i], true
		}
	}
	return nil, false
}

// find returns the place of a name in s itself, the last if it was bound again after an error, or
// -1.
func (s *scope) find(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return i
		}
		return -1
	}
	for i := len(s.names) - 1; i >= 0; i-- {
		if s.names[i] == name {
			return i
		}
	}
	return -1
}

func (s *scope) bind(name string, v val, at source.Span) {
	v.product = false
	if i := s.find(name); i >= 0 && s.session {
		s.vals[i], s.spans[i] = v, at
		return
	}
	s.names = append(s.names, name)
	s.vals = append(s.vals, v)
	s.spans = append(s.spans, at)
	if s.index != nil {
		s.index[name] = len(s.names) - 1
	} else if len(s.names) > 16 {
		s.index = make(map[string]int, 64)
		for i, n := range s.names {
			s.index[n] = i
		}
	}
}

// unbind removes a name from s itself.
func (s *scope) unbind(name string) {
	if i := s.find(name); i >= 0 {
		s.names, s.vals, s.spans, s.index = slices.Delete(s.names, i, i+1), slices.Delete(s.vals, i, i+1), slices.Delete(s.spans, i, i+1), nil
	}
}

// visible returns every visible name, for did-you-mean.
func (s *scope) visible() []string {
	var out []string
	for ; s != nil; s = s.parent {
		out = append(out, s.names...)
	}
	return out
}

// grid is a channel array: for every element the edge of its latest token, in program order. A send
// makes a new edge and forgets the old one. There is no storage, so there is no aliasing.
type grid struct {
	name  string
	span  source.Span
	num   int // in Graph.Grids; -1: it has no send end
	place ir.Placement
	dims  []int
	cur   []ir.ID // latest token, ir.None before the first
	ver   []int32
	// typ is the element type of every token. Invalid: each element's first token decides.
	typ []types.Type

	// tiled arrays: the matrix and its cuts
	tiled      bool
	elem       types.Elem
	rows, cols int
	nb         int
	part       string

	eq *equation

	level int32 // how many regions enclose the graph of its tokens
	outer bool  // it belongs to an outer graph and can only be read
}

// alias is a name that `type` declares, and the scope of its sizes.
type alias struct {
	name string
	typ  ast.Type
	env  *scope
	at   source.Span
}

// each returns v, a list or tuple, with f(i, x) in place of each element x.
func (v val) each(f func(i int, x val) val) val {
	elems := make([]val, len(v.elems))
	for i, x := range v.elems {
		elems[i] = f(i, x)
	}
	return val{kind: v.kind, compound: &compound{elems: elems, names: v.names}}
}

// library is the library of one elaboration or session.
type library struct {
	scope *scope
	words []string // of all declarations, in the order of the files
	rest  map[string]declaration
}

// equation is the equation form: one expression an element, evaluated on demand.
type equation struct {
	decl  *ast.Chan
	env   *scope
	nest  int // the loops around the declaration, and their indices
	at    []int
	call  int32
	calls []*ast.Call
	// per element: 0 not requested, 1 being evaluated, 2 done, 3 outside the domain
	state []uint8
	path  []int // elements being evaluated, outermost first
}

// declaration is an unparsed declaration.
type declaration struct {
	file     *source.File
	from, to int
}

// parseScalar parses a scalar from the command line: a str is the text itself, everything else a
// literal, with underscores in numbers.
func parseScalar(text string, e types.Elem) (value.Scalar, bool) {
	plain := strings.ReplaceAll(text, "_", "")
	switch e {
	case types.Str:
		return value.Str(text), true
	case types.Bool:
		b, err := strconv.ParseBool(text)
		return value.Bool(b), err == nil
	case types.I64:
		n, err := strconv.ParseInt(plain, 10, 64)
		return value.I64(n), err == nil
	case types.F64, types.F32:
		x, err := strconv.ParseFloat(plain, 64)
		return value.F64(x).Convert(e), err == nil
	}
	return value.Scalar{}, false
}
