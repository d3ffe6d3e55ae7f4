package lower

import (
	"errors"
	"slices"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file adds help from the program's text to an operator's complaint about its arguments: the
// user's own expression, corrected.

// fault reports a type rule's refusal, with the argument types as labels.
func (l *lowerer) fault(d *op.Def, err error, at source.Span, spans []source.Span) {
	var f *op.Fault
	if !errors.As(err, &f) {
		var x *op.Failure
		if errors.As(err, &x) {
			diag := source.Errorf(source.Code(x.Code), at, "%s", x.Msg)
			diag.Help = x.Help
			l.fail(diag)
		}
		l.failf("E203", at, "%s: %v", d.Source(), err)
	}
	where := at
	if f.Arg >= 0 && f.Arg < len(spans) && spans[f.Arg].IsValid() {
		where = spans[f.Arg]
	}
	diag := source.Errorf(source.Code(f.Code), where, "%s", f.Msg)
	diag.Help = f.Help
	if !strings.Contains(f.Help, "dense(") && l.takesDense(d, f) {
		diag.Help = "dense(x) makes a dense matrix of it"
	}
	for i, t := range l.types {
		if i < len(spans) && spans[i].IsValid() && len(l.types) <= 3 {
			if spans[i] == where {
				diag.Label = t.String()
			} else {
				diag = diag.WithNote(spans[i], "%s", t)
			}
		}
	}
	if len(l.calls) == 0 || l.ownText(where) { // the text of the library is no help
		diag = l.faultHelp(diag, d, f.Arg, at, spans)
	}
	l.fail(diag)
}

// takesDense reports a row that refused a sparse argument whose dense form it takes. l.sig is the
// call.
func (l *lowerer) takesDense(d *op.Def, f *op.Fault) bool {
	if f.Arg < 0 || f.Arg >= len(l.types) || !l.types[f.Arg].IsSparse() || l.sig.Def != d {
		return false
	}
	dense := append([]types.Type(nil), l.types...)
	for i, t := range dense {
		if t.IsSparse() {
			dense[i] = types.DenseOf(t.Elem, t.Rows, t.Cols)
		}
	}
	sig := l.sig
	sig.In = dense
	_, err := d.Type(&sig)
	return err == nil
}

// faultHelp adds help to d, the diagnostic of a call of def at `at` with arguments at spans. bad is
// the wrong argument, or -1. l.types are the argument types.
func (l *lowerer) faultHelp(d source.Diagnostic, def *op.Def, bad int, at source.Span, spans []source.Span) source.Diagnostic {
	text := func(i int) string {
		if i < 0 || i >= len(spans) {
			return ""
		}
		return l.text(spans[i])
	}
	two := len(l.types) == 2 && len(spans) == 2 && text(0) != "" && text(1) != ""
	a, b := types.Type{}, types.Type{}
	if two {
		a, b = l.types[0], l.types[1]
	}
	isText := bad >= 0 && bad < len(l.types) && l.types[bad].Elem == types.Str
	switch {
	case def.Infix == "*" && two && d.Code == "E211" && a.IsMatrix() && b.IsMatrix() && a.Cols == b.Rows:
		d.Span, d.Label = at, ""
		return d.WithHelp("the matrix product is `%s @ %s`", text(0), text(1))
	case two && d.Code == "E210" && strings.HasPrefix(d.Help, "t(b)"):
		return d.WithHelp("write `%s @ t(%s)`: t(b) transposes the right side", text(0), text(1))
	case two && d.Code == "E210" && strings.HasPrefix(d.Help, "t(a)"):
		return d.WithHelp("write `t(%s) @ %s`: t(a) transposes the left side", text(0), text(1))
	case def.Infix == "@" && two && a.IsScalar() && l.before(spans[0]) != "":
		return d.WithHelp("`@` comes before `*` and `/`: write the left side in parentheses, as `(x %s %s) @ %s`", l.before(spans[0]), text(0), text(1))
	case d.Help != "":
		return d
	case d.Code == "E210":
		return d.WithHelp("a product takes as many columns on the left as there are rows on the right")
	case def.Infix == "+" && two && (a.Elem == types.Str) != (b.Elem == types.Str):
		if inner, literal := strings.CutSuffix(text(0), `"`); literal && strings.Count(text(0), `"`) == 2 {
			return d.WithHelp("write `fmt(%s{}\", %s)`", inner, text(1))
		}
		return d.WithHelp("write `fmt(\"{}{}\", %s, %s)`", text(0), text(1))
	case isText && strings.Count(text(bad), `"`) == 2 && isNumber(strings.Trim(text(bad), `"`)):
		return d.WithHelp("a number is written without quotes: `%s`", strings.Trim(text(bad), `"`))
	case def.Infix != "" && slices.ContainsFunc(l.types, func(t types.Type) bool { return t.Elem == types.Picture }):
		return d.WithHelp("figure(p, q) puts pictures over each other, panels(p, q) beside each other; nothing else is done with them but emit")
	case isText || two && (a.Elem == types.Str || b.Elem == types.Str):
		return d.WithHelp("texts are compared, joined by + and made by fmt(\"{} {}\", a, b); nothing else is done with them")
	case def.Infix == "not":
		d.Span = at
		return d.WithHelp("numbers are no truth values: write `%s == 0`", text(0))
	case d.Code == "E211" && (def.Source() == "rbind" || def.Source() == "cbind"):
		other := map[string]string{"rbind": "rbind puts matrices of as many columns one below the other; cbind puts them side by side",
			"cbind": "cbind puts matrices of as many rows side by side; rbind puts them one below the other"}
		return d.WithHelp("%s", other[def.Source()])
	case d.Code == "E211" && def.Source() == "reshape":
		return d.WithHelp("the new sizes multiply to as many elements: %s", count(l.types[0]))
	case strings.Contains(d.Message, "empty matrix"):
		return d.WithHelp("nothing has no least and no greatest element; sum and count of nothing are 0")
	case strings.Contains(d.Message, "is negative"):
		return d.WithHelp("a size is 0 or more")
	}
	return d
}

// count returns the number of elements of a matrix type, in words.
func count(t types.Type) string {
	if t.Rows < 0 || t.Cols < 0 {
		return "those of the matrix"
	}
	return counted(t.Count(), "element") + " here"
}

// isNumber reports a text that is a number in Flow.
func isNumber(s string) bool {
	if _, ok := parseScalar(s, types.F64); ok {
		return true
	}
	_, ok := parseScalar(s, types.I64)
	return ok
}
