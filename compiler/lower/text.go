package lower

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates texts: concatenation by +, and formats known before the run.

// isText reports a scalar str, known before the run or not.
func (l *lowerer) isText(v val) bool { return l.typeOf(v) == types.ScalarOf(types.Str) }

// joined elaborates x + y where at least one is a str. A number is not converted, since "1" + 2
// could mean 12 or 3.
func (l *lowerer) joined(e *ast.Binary, x, y val) val {
	if !l.isText(x) || !l.isText(y) {
		other, at := x, e.X
		if l.isText(x) {
			other, at = y, e.Y
		}
		d := source.Errorf("E201", e.OpAt, "`+` joins a str to another; this is %s", l.what(other)).WithNote(at.Span(), "%s", l.what(other))
		if t := l.typeOf(other); t.IsScalar() {
			d = d.WithHelp("write str(%s), or fmt(\"{} ..\", ..), which also says how many digits", l.in.Files.Text(at.Span()))
		} else {
			d = d.WithHelp("a matrix is shown under a text by `emit X as \"label\"`; str and fmt take its elements")
		}
		l.fail(d)
	}
	if x.kind == konst && y.kind == konst {
		if err := op.TextTooLong(len(x.s.S) + len(y.s.S)); err != nil {
			l.fault(l.table.Must("fmt"), err, e.Span(), nil)
		}
		return konstVal(value.Str(x.s.S + y.s.S))
	}
	spans := []source.Span{e.Span(), e.X.Span(), e.Y.Span()}
	return l.apply(l.table.Must("fmt"), nil, e.Span(), []val{konstVal(value.Str("{}{}")), x, y}, spans)
}

// checkFormat applies the type rule of an operator whose first argument is a known str, so that a
// wrong format is reported before the run even if its arguments are unknown.
func (l *lowerer) checkFormat(d *op.Def, attrs *op.Attrs, at source.Span, in []val, spans []source.Span) {
	l.types = l.types[:0]
	for _, v := range in {
		l.types = append(l.types, l.typeOf(v))
	}
	consts := make([]value.Value, len(in))
	consts[0] = in[0].s
	if _, err := d.Type(&op.Sig{Def: d, In: l.types, Attrs: attrs, Consts: consts}); err != nil {
		l.fault(d, err, at, spans)
	}
}
