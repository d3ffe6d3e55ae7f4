package lower

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"flow/compiler/check"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates the entries of a session: programs that see the names of earlier entries.
// Named run-time values at the end of an entry are stored under a number, their slot, and later
// entries read them. The graph of an entry holds only what is new.

// Enter elaborates an entry. With an error among the diagnostics the entry is nil and the session
// unchanged.
func (s *Session) Enter(ctx context.Context, in Input) (e *Entry, ds source.Diagnostics) {
	l := newLowerer(ctx, in)
	e = &Entry{s: s, before: s.snapshot(), slots: map[ir.ID]int{}, Last: ir.None, texts: map[string]string{}}
	complete := false
	defer func(e *Entry) {
		if !complete { // also after a panic: the session is unchanged
			e.Abort()
		}
	}(e)
	l.top, l.scope, l.std, l.session = s.top, s.top, s.std, e
	s.reach(func(slot ir.ID) ir.ID {
		for id, x := range e.slots {
			if x == int(slot) {
				return id
			}
		}
		id := l.add(in.Table.Must("kept"), slotAttr(int(slot)), source.Span{}, nil)
		e.slots[id] = int(slot)
		return id
	}, func(g *grid) {
		if g.num >= 0 {
			l.openGrid(g)
		}
	})
	for _, st := range in.File.Stmts {
		switch st := st.(type) {
		case *ast.FnDecl:
			l.ahead = append(l.ahead, st.Name.Name)
		case *ast.Param:
			e.texts[st.Name.Name] = in.Files.Text(st.Span())
		}
	}
	for _, st := range in.File.Stmts {
		if ctx.Err() != nil {
			break
		}
		wrong := check.Names(&ast.File{Stmts: []ast.Stmt{st}}, world{l})
		if !l.try(func() { l.entered(st) }) {
			l.poisonNames(st)
		}
		for _, d := range wrong {
			if l.unknownAt(d) < 0 && !l.reported(d) {
				l.diags = append(l.diags, d)
			}
		}
	}
	l.unusedSets()
	s.std = l.std
	e.Params = l.params
	ds = l.diags.Sort()
	if ds.HasErrors() || ctx.Err() != nil {
		return nil, ds
	}
	e.reuse(l)
	e.keep(l)
	l.g.Clip()
	e.Graph = l.g
	complete = true
	return e, ds
}

// entered elaborates a statement. A lone expression is shown.
func (l *lowerer) entered(st ast.Stmt) {
	e, ok := st.(*ast.ExprStmt)
	if !ok || does(e.Expr) {
		l.stmt(st)
		return
	}
	v := l.whole(e.Expr)
	switch v.kind {
	case function, module, typeName:
		old, had := l.scope.lookup("_")
		was := val{}
		if had {
			was = *old
		}
		text := l.what(v)
		if v.kind == function {
			text = "fn " + l.typed(v.fn)
		}
		l.shown(e, konstVal(value.Str(text)), "")
		l.session.typ = l.what(v)
		if had {
			l.scope.bind("_", was, e.Span())
		} else {
			l.scope.unbind("_")
		}
		return
	case tuple:
		for i, part := range v.elems {
			name := fmt.Sprint(i)
			if len(v.names) > 0 {
				name = v.names[i]
			}
			l.shown(e, part, name)
		}
		l.scope.bind("_", v, e.Span())
		l.session.typ = l.what(v)
		return
	}
	l.shown(e, v, "")
	l.session.typ = l.what(v)
	switch v.kind {
	case edge:
		l.session.typ, l.session.Last = l.g.Type(v.id).String(), v.id
	case konst:
		l.session.typ = v.s.Elem.String()
	}
}

// Shown returns the type of the value shown last, or "".
func (e *Entry) Shown() string { return e.typ }

// shown emits a value by the name `_`.
func (l *lowerer) shown(e *ast.ExprStmt, v val, label string) {
	l.scope.bind("_", v, e.Span())
	emit := &ast.Emit{Src: e.Src, Expr: &ast.Name{Src: ast.Src{At: e.Expr.Span()}, Name: "_"}}
	if label != "" {
		emit.As = &ast.String{Src: e.Src, Value: label}
	}
	l.emit(emit)
}

// does distinguishes an `if` that has an effect, or may do nothing, from an expression with a value
// to show.
func does(e ast.Expr) bool {
	top, is := e.(*ast.If)
	if !is {
		return false
	}
	last := top
	for last.ElseIf != nil {
		last = last.ElseIf
	}
	found := last.Else == nil
	ast.Walk(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Emit, *ast.Assert, *ast.Send:
			found = true
		}
		return !found
	})
	return found
}

// slotAttr returns the attribute of kept and keep.
func slotAttr(slot int) *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "slot", Val: op.Int(slot)})
}

// keep makes a sink of every named run-time value that is not stored yet.
func (e *Entry) keep(l *lowerer) {
	d := l.table.Must("keep")
	e.s.reach(func(id ir.ID) ir.ID {
		if _, ok := e.slots[id]; ok || !l.g.Type(id).IsScalar() && !l.g.Type(id).IsMatrix() {
			return id
		}
		slot := e.s.next
		e.s.next++
		e.slots[id] = slot
		l.add(d, slotAttr(slot), l.g.Origin(id).Span, nil, id)
		return id
	}, nil)
}

// reuse reads values that earlier entries computed, and computes the key of every node: a hash of
// its operator, attributes and inputs. A node without a key is computed again: loops and branches,
// whose regions would have to be compared, effects, and file reads, since the file may have
// changed.
func (e *Entry) reuse(l *lowerer) {
	g := l.g
	e.keys = make([]string, g.Len())
	kept := l.table.Must("kept")
	for id, n := range g.All() {
		if slot, ok := e.slots[id]; ok {
			e.keys[id] = e.s.key[slot]
			continue
		}
		if n.Region != nil || n.Op.Reads != nil || n.Op.Control != op.NoControl || !n.Op.Laws.Has(op.Pure) {
			continue
		}
		h, known := sha256.New(), true
		fmt.Fprintf(h, "%s%v %v", n.Op.Name, n.Attrs, g.Type(id)) // a hash takes everything
		for _, in := range g.In(id) {
			known = known && e.keys[in] != ""
			h.Write([]byte(e.keys[in]))
		}
		if !known {
			continue
		}
		e.keys[id] = string(h.Sum(nil))
		if _, _, _, sent := g.Dest(id); sent || n.Op == l.constant {
			continue
		}
		if slot, ok := e.s.at[e.keys[id]]; ok {
			g.Replace(id, kept, slotAttr(slot))
			e.slots[id] = slot
		}
	}
}

// Commit adds the entry to the session after its run, when its values are stored. It returns the
// slots that are still needed.
func (e *Entry) Commit(small func(slot int) bool) map[int]bool {
	s := e.s
	maps.Copy(s.texts, e.texts)
	for _, p := range e.Params {
		s.params = slices.DeleteFunc(s.params, func(q Param) bool { return q.Name == p.Name })
		s.params = append(s.params, p)
	}
	needed := map[int]bool{}
	s.reach(func(id ir.ID) ir.ID {
		slot, ok := e.slots[id]
		if !ok {
			panic("BUG: a name of the session means a value that was not stored")
		}
		needed[slot] = true
		if _, has := s.key[slot]; !has {
			k := ""
			if int(id) < len(e.keys) {
				k = e.keys[id]
			}
			if k == "" {
				k = fmt.Sprintf("slot %d", slot)
			}
			s.key[slot] = k
			if _, taken := s.at[k]; !taken {
				s.at[k] = slot
			}
		}
		return ir.ID(slot)
	}, nil)
	if e.Last != ir.None {
		if slot, ok := e.slots[e.Last]; ok && small(slot) && !slices.Contains(s.recent, slot) {
			s.recent = append(s.recent, slot)
			s.recent = s.recent[max(0, len(s.recent)-recentResults):]
		}
	}
	s.forget(needed)
	return needed
}

// forget removes the keys of values that are neither needed nor recent.
func (s *Session) forget(needed map[int]bool) {
	for _, slot := range s.recent {
		needed[slot] = true
	}
	for slot, k := range s.key {
		if !needed[slot] {
			delete(s.key, slot)
			if s.at[k] == slot {
				delete(s.at, k)
			}
		}
	}
}

// recentResults is the number of small unnamed results that were shown and are not computed again.
const recentResults = 256

// Abort restores the session to its state before the entry.
func (e *Entry) Abort() {
	for s, was := range e.scopes {
		*s = was
	}
	for g, was := range e.grids {
		*g = was
	}
}

// Variables returns the names of the session with their values, in the order in which they were
// first bound. typeOf returns the type of the value in a slot.
func (s *Session) Variables(typeOf func(slot int) types.Type) (out []Variable) {
	for i, name := range s.top.names {
		out = append(out, variable(name, s.top.vals[i], typeOf))
	}
	return out
}

func variable(name string, v val, typeOf func(int) types.Type) Variable {
	out := Variable{Name: name, Slot: -1}
	switch v.kind {
	case konst:
		out.Type, out.Const = types.ScalarOf(v.s.Elem), v.s
	case edge:
		out.Slot, out.Type = int(v.id), typeOf(int(v.id))
	case array:
		out.What = "channels " + strings.Trim(strings.ReplaceAll(fmt.Sprint(v.grid.dims), " ", " x "), "[]")
	case function:
		out.What = "function"
		for _, p := range v.fn.params {
			out.Args = append(out.Args, p.Name.Name)
		}
	case list, tuple:
		out.What = "tuple"
		if v.kind == list {
			out.What = "list"
		}
		out.Fields = v.names
		for _, x := range v.elems {
			out.Parts = append(out.Parts, variable("", x, typeOf))
		}
	case module:
		out.What, out.Fields = "module", v.mod.names
	case typeName:
		out.What = "type"
	}
	return out
}

// Next returns the next slot.
func (s *Session) Next() int { return s.next }

// SetNext sets the next slot. The sessions of several ranks use the same slots, although only rank
// 0 elaborates entries that are not run.
func (s *Session) SetNext(slot int) { s.next = slot }

// Params returns the params of the session with their values.
func (s *Session) Params() []Param { return s.params }

// ParamText returns the statement that declares a param of the session, or "".
func (s *Session) ParamText(name string) string { return s.texts[name] }

// Drop forgets a name and reports whether it existed. It returns the slots that are still needed.
func (s *Session) Drop(name string) (needed map[int]bool, ok bool) {
	if ok = s.top.find(name) >= 0; ok {
		s.top.unbind(name)
		s.params = slices.DeleteFunc(s.params, func(p Param) bool { return p.Name == name })
		delete(s.texts, name)
	}
	needed = map[int]bool{}
	s.reach(func(slot ir.ID) ir.ID { needed[int(slot)] = true; return slot }, nil)
	s.forget(needed)
	return needed, ok
}
