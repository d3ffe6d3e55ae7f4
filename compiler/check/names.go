package check

import (
	"maps"
	"slices"

	"flow/lang/ast"
	"flow/lang/source"
)

// World is the names that a program need not bind.
type World interface {
	// Value reports a name that is a value by itself, such as a library function.
	Value(name string) bool
	// Callable reports a name that may be called: an operator, a form of the language, a
	// library function, or a word that is not built yet and gets its own diagnostic.
	Callable(name string) bool
	// Words returns every name of the world, for did-you-mean.
	Words() []string
}

// Names reports wrong uses of names in a file, sorted. It knows no types; elaboration checks what
// depends on a value.
func Names(f *ast.File, w World) source.Diagnostics {
	c := &names{world: w, ended: map[string]source.Span{}}
	c.push()
	c.stmts(f.Stmts)
	return c.diags.Sort()
}

// names walks a file. Scopes are few and small, so they are a list, innermost last.
type names struct {
	world  World
	scopes []scope
	diags  source.Diagnostics
	fns    []string // the functions whose bodies are being checked, innermost last
	stage  bool     // inside a stage, whose outputs have names of their own

	loops   int         // `for`s around
	carried []ast.Ident // of the innermost iterate
	binding []ast.Ident // the names of the binding whose right side is being checked
	// ended has the names of blocks that have ended, and where they were bound.
	ended map[string]source.Span
}

type scope struct {
	at    map[string]source.Span
	later map[string]source.Span // bound by a statement further down
	fn    bool                   // the parameters of a function, which may reuse outer names
}

func (c *names) push() *scope {
	c.scopes = append(c.scopes, scope{at: map[string]source.Span{}})
	return &c.scopes[len(c.scopes)-1]
}

func (c *names) pop() {
	last := len(c.scopes) - 1
	if !c.scopes[last].fn {
		maps.Copy(c.ended, c.scopes[last].at)
	}
	c.scopes = c.scopes[:last]
}

// bind declares a name that must be new in every visible scope, up to a function's.
func (c *names) bind(id ast.Ident) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if at, ok := c.scopes[i].at[id.Name]; ok {
			c.diags = append(c.diags, TwiceBound(id, at, c.loops > 0 && i < len(c.scopes)-1, c.free))
			return
		}
		if c.scopes[i].fn {
			break
		}
	}
	c.here(id)
}

// free reports a name that neither the program nor the language has.
func (c *names) free(name string) bool { return !c.visible(name) && !c.world.Callable(name) }

// here declares a name that may shadow: parameters may reuse outer names.
func (c *names) here(id ast.Ident) {
	s := &c.scopes[len(c.scopes)-1]
	s.at[id.Name] = id.At
	delete(s.later, id.Name)
}

func (c *names) visible(name string) bool {
	for i := range c.scopes {
		if _, ok := c.scopes[i].at[name]; ok {
			return true
		}
	}
	return false
}

func (c *names) stmts(list []ast.Stmt) {
	later := map[string]source.Span{}
	for i := len(list) - 1; i >= 0; i-- {
		for _, id := range ast.Bound(list[i]) {
			later[id.Name] = id.At
		}
	}
	c.scopes[len(c.scopes)-1].later = later
	for _, st := range list {
		c.stmt(st)
	}
}

func (c *names) block(b *ast.Block) {
	if b != nil {
		c.push()
		c.stmts(b.Stmts)
		c.pop()
	}
}

func (c *names) stmt(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.Import:
		c.here(ImportName(st))
	case *ast.Param:
		c.typ(st.Type)
		c.expr(st.Default)
		c.expr(st.In)
		c.bind(st.Name)
	case *ast.FnDecl:
		c.bind(st.Name)
		c.fns = append(c.fns, st.Name.Name)
		c.function(st.Params, st.Result, st.Expr, st.Body)
		c.fns = c.fns[:len(c.fns)-1]
	case *ast.Stage:
		c.bind(st.Name)
		c.stage = true
		c.function(st.Params, nil, nil, st.Body)
		c.stage = false
	case *ast.TypeDef:
		c.bind(st.Name)
	case *ast.State:
		c.expr(st.Init)
		c.bind(st.Name)
	case *ast.On:
		c.expr(st.In)
		c.push().fn = true
		for _, id := range st.Names {
			c.here(id)
		}
		c.block(st.Body)
		c.pop()
	case *ast.Next:
		c.expr(st.Expr)
	case *ast.Chan:
		c.typ(st.Type)
		c.push()
		c.ranges(st.Ranges)
		if len(st.Ranges) > 0 {
			c.here(st.Name) // the equations of an array may read it
		}
		c.expr(st.Expr)
		c.pop()
		c.with(st.With)
		c.bind(st.Name)
	case *ast.For:
		c.push()
		c.ranges(st.Ranges)
		c.loops++
		c.block(st.Body)
		c.loops--
		c.pop()
	case *ast.Iterate:
		for _, k := range st.Carry {
			c.typ(k.Type)
			c.expr(k.Init)
		}
		c.expr(st.Times)
		for _, id := range ast.Bound(st) {
			c.bind(id)
		}
		c.expr(st.Until)
		outer := c.carried
		c.carried = ast.Bound(st)
		c.block(st.Body)
		c.carried = outer
	case *ast.Emit:
		c.expr(st.Expr)
		c.sink(st.To)
	case *ast.Assert:
		c.expr(st.Expr)
		c.expr(st.Message)
	case *ast.Bind:
		c.typ(st.Type)
		c.binding = st.Names
		c.expr(st.Expr)
		c.binding = nil
		for _, id := range st.Names {
			if slices.ContainsFunc(c.carried, func(k ast.Ident) bool { return k.Name == id.Name }) {
				c.diags = append(c.diags, ForgottenNext(id))
				continue
			}
			c.bind(id)
		}
	case *ast.Send:
		c.expr(st.Target)
		c.expr(st.Expr)
	case *ast.ExprStmt:
		c.expr(st.Expr)
	}
}

// ImportName returns the name that an import binds: that after `as`, or the file's.
func ImportName(s *ast.Import) ast.Ident {
	if s.As != nil {
		return *s.As
	}
	name := s.Path.Value
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			name = name[i+1:]
			break
		}
	}
	if n := len(name) - len(".flow"); n > 0 && name[n:] == ".flow" {
		name = name[:n]
	}
	return ast.Ident{Src: ast.Src{At: s.Path.Span()}, Name: name}
}

// function checks a body with its parameters and the sizes in their types.
func (c *names) function(params []ast.Par, result ast.Type, e ast.Expr, body *ast.Block) {
	c.push().fn = true
	for _, p := range params {
		c.sizes(p.Type)
		c.expr(p.Default)
		if at, twice := c.scopes[len(c.scopes)-1].at[p.Name.Name]; twice {
			c.diags = append(c.diags, TwiceBound(p.Name, at, false, c.free))
		}
		c.here(p.Name)
	}
	c.sizes(result)
	c.expr(e)
	if body != nil {
		c.stmts(body.Stmts)
	}
	c.pop()
}

// sizes binds the dimension names of a signature: f64[n,m].
func (c *names) sizes(t ast.Type) {
	each(t, func(d ast.Expr) {
		if n, ok := d.(*ast.Name); ok && (n.Name == "_" || !c.visible(n.Name)) {
			c.here(ast.Ident{Src: n.Src, Name: n.Name})
			return
		}
		c.expr(d)
	})
}

// typ checks a written type. A size that is named for the first time is bound by it.
func (c *names) typ(t ast.Type) { c.sizes(t) }

// each calls f for every dimension in a type.
func each(t ast.Type, f func(ast.Expr)) {
	switch t := t.(type) {
	case *ast.NamedType:
		for _, d := range t.Dims {
			f(d)
		}
	case *ast.ChanType:
		each(t.Elem, f)
	case *ast.SparseType:
		each(t.Elem, f)
	case *ast.GridType:
		for _, d := range t.Dims {
			f(d)
		}
		each(t.Elem, f)
	case *ast.TupleType:
		for _, x := range t.Fields {
			each(x.Type, f)
		}
	case *ast.RecordType:
		for _, x := range t.Fields {
			each(x.Type, f)
		}
	case *ast.FnType:
		for _, p := range t.Params {
			each(p, f)
		}
		each(t.Result, f)
	}
}

// ranges binds loop indices. A bound may use the indices before it.
func (c *names) ranges(rs []ast.Range) {
	for _, r := range rs {
		// for x, y in ..: elaboration refuses it
		if n, ok := r.Lo.(*ast.Name); ok && r.Name == nil && r.Hi == nil {
			c.here(ast.Ident{Src: n.Src, Name: n.Name})
			continue
		}
		c.expr(r.Lo)
		c.expr(r.Hi)
		c.expr(r.By)
		c.descends(r)
		if r.Name != nil {
			c.bind(*r.Name)
		}
	}
}

// descends warns of a range that is empty because its literal bounds descend. Computed bounds may
// do so, as in k+1..n.
func (c *names) descends(r ast.Range) {
	lo, isLo := r.Lo.(*ast.Int)
	hi, isHi := r.Hi.(*ast.Int)
	if !isLo || !isHi || r.By != nil || lo.Value <= hi.Value {
		return
	}
	dots := ".."
	if r.Inclusive {
		dots = "..="
	}
	at := lo.Span().Join(hi.Span())
	c.diags = append(c.diags, source.Errorf("W005", at, "the range %s%s%s is empty", lo.Text, dots, hi.Text).
		WithHelp("a range that descends has a step: `%s%s%s by -1`", lo.Text, dots, hi.Text))
}

// with checks hints, whose values are words of their own: place = cyclic2d.
func (c *names) with(w *ast.With) {
	if w == nil {
		return
	}
	for _, a := range w.Args {
		if _, word := a.Value.(*ast.Name); !word {
			c.expr(a.Value)
		}
	}
}

// sink checks `to csv("f", sep = ";")`, whose function is a word of its own.
func (c *names) sink(e ast.Expr) {
	if call, ok := e.(*ast.Call); ok {
		c.args(call)
		return
	}
	if _, ok := e.(*ast.Name); !ok || !c.stage {
		c.expr(e)
	}
}

func (c *names) args(e *ast.Call) {
	for _, a := range e.Args {
		c.expr(a.Value)
	}
}

func (c *names) expr(e ast.Expr) {
	if e == nil {
		return
	}
	ast.Walk(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Name:
			c.use(n, false, func(name string) bool { return c.world.Value(name) && !c.boundLater(name) })
			return false
		case *ast.Call:
			if f, ok := n.Fun.(*ast.Name); ok {
				c.called(f, n.Span())
				if !c.visible(f.Name) && !c.world.Callable(f.Name) && Foreign(f.Name) != "" {
					// library(stats): the arguments of a foreign call are not
					// names of Flow
					return false
				}
			} else {
				c.expr(n.Fun)
			}
			c.args(n)
			return false
		case *ast.Binary:
			if f, ok := n.Y.(*ast.Name); ok && n.Op == "|>" {
				c.expr(n.X)
				c.called(f, n.Span())
				return false
			}
		case *ast.If:
			for i := n; i != nil; i = i.ElseIf {
				c.expr(i.Cond)
				c.block(i.Then)
				c.block(i.Else)
			}
			return false
		case *ast.Lambda:
			c.function(n.Params, nil, n.Expr, n.Body)
			return false
		case *ast.Comp:
			c.push()
			c.ranges(n.Ranges)
			c.expr(n.Expr)
			c.pop()
			return false
		case *ast.Parfor:
			c.push()
			c.ranges(n.Ranges)
			c.with(n.With)
			c.loops++
			c.block(n.Body)
			c.loops--
			c.pop()
			return false
		}
		return true
	})
}

// called checks a name that is used as a function.
func (c *names) called(n *ast.Name, call source.Span) {
	for _, f := range c.fns {
		if f == n.Name && c.outermost(n.Name) {
			c.diags = append(c.diags, Recursion(n.Name, call))
			return
		}
	}
	c.use(n, true, c.world.Callable)
}

// outermost reports whether a name is the file's, not a parameter.
func (c *names) outermost(name string) bool {
	for i := len(c.scopes) - 1; i > 0; i-- {
		if _, ok := c.scopes[i].at[name]; ok {
			return false
		}
	}
	return true
}

// Recursion is the diagnostic of a function that calls itself.
func Recursion(name string, at source.Span) source.Diagnostic {
	return source.Errorf("E130", at, "%s calls itself", name).
		WithHelp("a function is instantiated where it is called, before the run: loop with `for` or `iterate`")
}

// boundLater reports a name that a later statement binds: above that statement, a program that
// binds e does not mean the library's e.
func (c *names) boundLater(name string) bool {
	if slices.ContainsFunc(c.binding, func(id ast.Ident) bool { return id.Name == name }) {
		return false
	}
	return slices.ContainsFunc(c.scopes, func(s scope) bool { _, later := s.later[name]; return later })
}

// use checks a name that is used, as a function if call is true.
func (c *names) use(n *ast.Name, call bool, known func(string) bool) {
	if c.visible(n.Name) || known(n.Name) {
		return
	}
	if slices.ContainsFunc(c.binding, func(id ast.Ident) bool { return id.Name == n.Name }) {
		c.diags = append(c.diags, source.Errorf("E117", n.Span(), "`%s` is used in its own binding, and has no value above", n.Name).
			WithHelp("a name has one value; what changes from round to round is carried: `iterate %s = start times n { next %s = .. }`", n.Name, n.Name))
		return
	}
	for i := range c.scopes {
		if at, ok := c.scopes[i].later[n.Name]; ok {
			c.diags = append(c.diags, source.Errorf("E117", n.Span(), "`%s` is used above its binding", n.Name).WithNote(at, "bound here").
				WithHelp("bind it above its first use"))
			return
		}
	}
	if c.world.Callable(n.Name) {
		return // an operator as a value: elaboration decides
	}
	d := source.Errorf("E116", n.Span(), "nothing is called `%s` here", n.Name)
	if at, ok := c.ended[n.Name]; ok && !call {
		d = d.WithNote(at, "bound here, and gone at the end of the body").
			WithHelp("a body gives its value: `%s = if c { a } else { b }`, `%s = parfor i in a..b { .. }`; iterate carries names out", n.Name, n.Name)
	} else if h := Foreign(n.Name); h != "" {
		d = d.WithHelp("%s", h)
	} else {
		var own []string
		for _, s := range c.scopes {
			for name := range s.at {
				own = append(own, name)
			}
		}
		d = d.WithHelp("%s", Unknown(n.Name, call, own, c.world.Words()))
	}
	c.diags = append(c.diags, d)
}
