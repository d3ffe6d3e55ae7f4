package lower

import (
	"path/filepath"
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates emit: effects in program order, one chain a sink.

// emit makes an emit node after the last one of the same sink and after every assert above it: an
// assert guards the output below it.
func (l *lowerer) emit(s *ast.Emit) {
	l.emitsOne(s)
	v := l.whole(s.Expr)
	if v.kind == array {
		l.fail(source.Errorf("E200", s.Expr.Span(), "a channel array cannot be emitted as it is").WithHelp("untile(%s) makes one matrix of it", v.grid.name))
	}
	x := l.toEdge(v, s.Expr.Span())
	var attrs []op.Attr
	if s.All {
		attrs = append(attrs, op.Attr{Name: "all", Val: op.Bool(true)})
	}
	if s.As != nil {
		attrs = append(attrs, op.Attr{Name: "label", Val: op.Str(s.As.Value)})
	}
	sink := ""
	if s.To != nil {
		to := l.sink(s.To)
		if sink = filepath.Clean(to[0].Val.S); to[0].Val.S == "" {
			l.failf("E502", s.To.Span(), "the path is empty")
		}
		attrs = append(attrs, to...)
	}
	in := []ir.ID{x}
	w := written{form: formOf(attrs, sink), at: s.Span()}
	if last, ok := l.effect[sink]; ok {
		l.writtenOnce(sink, last, w)
		in = append(in, last.by)
	}
	if l.assert != ir.None {
		in = append(in, l.assert)
	}
	spans := []source.Span{s.Expr.Span()}
	w.by = l.add(l.table.Must("emit"), op.MakeAttrs(attrs...), s.Span(), spans, in...)
	l.effect[sink] = w
	l.sends++ // the next emit holds the ID: no statement may move it
}

// callable reports a name that the program or the language has.
func (l *lowerer) callable(name string) bool {
	_, bound := l.scope.lookup(name)
	return bound || l.known(name)
}

// emitsOne refuses emit(x, "label") and other tuples.
func (l *lowerer) emitsOne(s *ast.Emit) {
	t, ok := s.Expr.(*ast.Tuple)
	if !ok {
		return
	}
	d := source.Errorf("E200", s.Span(), "`emit` takes one value")
	if label, is := t.Parts[len(t.Parts)-1].Value.(*ast.String); is && len(t.Parts) == 2 && s.As == nil {
		l.fail(d.WithHelp("write `emit %s as %s`", l.text(t.Parts[0].Value.Span()), l.text(label.Span())))
	}
	var each []string
	for _, p := range t.Parts {
		each = append(each, "emit "+l.text(p.Value.Span()))
	}
	l.fail(d.WithHelp("write `%s`", strings.Join(each, "; ")))
}

func formOf(attrs []op.Attr, sink string) form {
	for _, a := range attrs {
		if a.Name == "form" {
			return form(a.Val.S)
		}
	}
	return form(strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(sink, ".gz")), "."))
}

// sink returns the attributes of `to`: a path, or a call such as csv("f", sep = ";").
func (l *lowerer) sink(e ast.Expr) []op.Attr {
	sinks := []string{"csv", "mtx", "npy", "pgm", "png", "svg", "html"}
	if c, ok := e.(*ast.Call); ok {
		if n, ok := c.Fun.(*ast.Name); !ok || !slices.Contains(sinks, n.Name) && l.callable(n.Name) {
			// computed before the run, as by fmt
			return []op.Attr{{Name: "to", Val: op.Str(l.strArg(e, "the path"))}}
		} else if len(c.Args) > 0 && slices.Contains(sinks, n.Name) {
			out := []op.Attr{{Name: "to", Val: op.Str(l.strArg(c.Args[0].Value, "the path"))}, {Name: "form", Val: op.Str(n.Name)}}
			for _, a := range c.Args[1:] {
				if a.Name == nil {
					l.failf("E127", a.Span(), "%s takes one path; name the other arguments", n.Name)
				}
				out = append(out, op.Attr{Name: a.Name.Name, Val: l.attr(l.expr(a.Value), op.NoVal, a.Value.Span(), a.Name.Name, nil)})
			}
			return out
		}
		l.failf("E502", e.Span(), "a sink is a path, or csv(..), mtx(..), npy(..), pgm(..), png(..), svg(..), html(..)")
	}
	return []op.Attr{{Name: "to", Val: op.Str(l.strArg(e, "the path"))}}
}
