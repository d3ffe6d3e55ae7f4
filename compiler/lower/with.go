package lower

import (
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates `with (..)`: hints of a channel array, a parfor or an iterate. They change no
// result.

// unrolled is the greatest number of known rounds that are unrolled into copies of the body: a few
// rounds of tiled work then overlap and spread over ranks. `with (unroll = n)` overrides it.
const unrolled = 4

// hinted is a form of the language that takes hints, with their names.
type hinted struct {
	of    string
	names []string
}

var (
	arrayHints   = hinted{"a channel array", []string{ir.PlaceAttr}}
	iterateHints = hinted{"an iterate", []string{"unroll", ir.PlaceAttr}}
	parforHints  = hinted{"a parfor", []string{"schedule", "grain", ir.PlaceAttr}}
)

// hints reads the arguments of with by their names.
func (l *lowerer) hints(w *ast.With, form hinted, read func(name string, value ast.Expr)) {
	if w == nil {
		return
	}
	seen := map[string]bool{}
	for _, a := range w.Args {
		if a.Name == nil || !slices.Contains(form.names, a.Name.Name) {
			l.fail(form.unknown(a))
		}
		if seen[a.Name.Name] {
			l.failf("E129", a.Span(), "`%s` is given twice", a.Name.Name)
		}
		seen[a.Name.Name] = true
		read(a.Name.Name, a.Value)
	}
}

// unknown reports a hint that a form does not take.
func (h hinted) unknown(a ast.Arg) source.Diagnostic {
	last := len(h.names) - 1
	say := "hints of " + h.of + " are " + strings.Join(h.names[:last], ", ") + " and " + h.names[last]
	if last == 0 {
		say = "the hint of " + h.of + " is " + h.names[0]
	}
	d := source.Errorf("E128", a.Span(), "no such hint")
	if a.Name == nil {
		return d.WithHelp("%s", say)
	}
	d.Span = a.Name.At
	for _, other := range []hinted{parforHints, iterateHints} {
		if slices.Contains(other.names, a.Name.Name) {
			return d.WithHelp("%s; `%s` is one of %s", say, a.Name.Name, other.of)
		}
	}
	if s, ok := source.Suggest(a.Name.Name, h.names); ok {
		return d.WithHelp("did you mean `%s`? %s", s, strings.ToUpper(say[:1])+say[1:])
	}
	return d.WithHelp("%s", say)
}

// placement reads the value of `place`, one of known.
func (l *lowerer) placement(e ast.Expr, form hinted, known ...ir.Placement) ir.Placement {
	if n, ok := e.(*ast.Name); ok && slices.Contains(known, ir.Placement(n.Name)) {
		return ir.Placement(n.Name)
	}
	words := make([]string, len(known))
	for i, p := range known {
		words[i] = string(p)
	}
	d := source.Errorf("E203", e.Span(), "no such placement").WithHelp("place of %s is %s or %s", form.of, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
	if n, ok := e.(*ast.Name); ok {
		if s, ok := source.Suggest(n.Name, words); ok {
			d = d.WithHelp("did you mean `%s`?", s)
		}
	}
	l.fail(d)
	return ir.AnyPlace
}

// cyclic2d is what a channel array has that says nothing.
const cyclic2d ir.Placement = "cyclic2d"

// arrayPlace returns the placement of a channel array.
func (l *lowerer) arrayPlace(w *ast.With) (place ir.Placement) {
	l.hints(w, arrayHints, func(_ string, e ast.Expr) {
		place = l.placement(e, arrayHints, cyclic2d, ir.ByRows, ir.ByCols, ir.Replicated, ir.OneRank)
	})
	if place == cyclic2d {
		return ir.AnyPlace
	}
	return place
}

// loopPlace adds the attribute of a loop's placement, which a plan of one rank has no use for: there
// it would keep the loop from others.
func (l *lowerer) loopPlace(out []op.Attr, e ast.Expr, form hinted) []op.Attr {
	place := l.placement(e, form, ir.ByRows, ir.Replicated, ir.OneRank)
	if l.in.Ranks <= 1 {
		return out
	}
	return append(out, op.Attr{Name: ir.PlaceAttr, Val: op.Str(string(place))})
}

// iterateHints returns the number of rounds up to which a loop is unrolled, and its other hints. A
// loop with a placement is unrolled only if the program says so, because its copies would have no
// place. This holds on one rank, too: otherwise a first value that no round reads could fail on
// several ranks and not on one.
func (l *lowerer) iterateHints(w *ast.With) (most int, out []op.Attr) {
	most = unrolled
	said, placed := false, false
	l.hints(w, iterateHints, func(name string, e ast.Expr) {
		if name == ir.PlaceAttr {
			out, placed = l.loopPlace(out, e, iterateHints), true
			return
		}
		said = true
		if most = l.intArg(e, "unroll"); most < 0 || most > l.limit() {
			l.failf("E203", e.Span(), "unroll is %d", most)
		}
	})
	if !said && placed {
		most = 0
	}
	return most, out
}

// parforHints returns the attributes of a parfor's hints.
func (l *lowerer) parforHints(w *ast.With) (out []op.Attr) {
	l.hints(w, parforHints, func(name string, e ast.Expr) {
		switch name {
		case ir.PlaceAttr:
			out = l.loopPlace(out, e, parforHints)
		case "grain":
			n := l.intArg(e, "the grain")
			if n < 1 {
				l.failf("E203", e.Span(), "the grain is %d, it must be positive", n)
			}
			out = append(out, op.Attr{Name: "grain", Val: op.Int(n)})
		default:
			s := l.strArg(e, "the name of a technique")
			if l.in.Schedule != nil {
				if err := l.in.Schedule(s); err != nil {
					why, near, found := strings.Cut(err.Error(), "; did you mean ")
					d := source.Errorf("E203", e.Span(), "%s", why).WithHelp("flowrun chunks lists the techniques")
					if found {
						d = d.WithHelp("did you mean `\"%s\"`? flowrun chunks lists the techniques", strings.TrimSuffix(near, "?"))
					}
					l.fail(d)
				}
			}
			out = append(out, op.Attr{Name: "schedule", Val: op.Str(s)})
		}
	})
	return out
}
