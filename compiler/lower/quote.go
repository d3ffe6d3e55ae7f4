package lower

// This file quotes the text of the user in messages.

import (
	"fmt"
	"strings"

	"flow/lang/ast"
	"flow/lang/source"
)

// text returns the user's text of a span.
func (l *lowerer) text(at source.Span) string {
	if l.in.Files == nil || !at.IsValid() {
		return ""
	}
	f := l.in.Files.File(at.From)
	if f == nil {
		return ""
	}
	return f.Text[f.Offset(at.From):f.Offset(at.To)]
}

// texts returns the arguments of a call as the user wrote them. With flat, a list or tuple that is
// the only argument is replaced by its elements, as in concatenate([a, b]).
func (l *lowerer) texts(args []ast.Arg, flat bool) []string {
	var out []string
	for _, a := range args {
		if a.Name != nil {
			return nil
		}
		out = append(out, l.text(a.Value.Span()))
	}
	if len(args) == 1 && flat {
		elems := []ast.Expr(nil)
		switch x := args[0].Value.(type) {
		case *ast.List:
			elems = x.Elems
		case *ast.Tuple:
			for _, p := range x.Parts {
				elems = append(elems, p.Value)
			}
		}
		if len(elems) > 0 {
			out = out[:0]
			for _, e := range elems {
				out = append(out, l.text(e.Span()))
			}
		}
	}
	return out
}

// before returns the sign *, / or // before a span of the user's text, or "".
func (l *lowerer) before(at source.Span) string {
	if l.text(at) == "" {
		return ""
	}
	f := l.in.Files.File(at.From)
	for _, sign := range []string{"//", "/", "*"} {
		if strings.HasSuffix(strings.TrimRight(f.Text[:f.Offset(at.From)], " \t"), sign) {
			return sign
		}
	}
	return ""
}

// ownText reports a span in the user's files, not in the library.
func (l *lowerer) ownText(at source.Span) bool {
	f := l.in.Files.File(at.From)
	return f != nil && !strings.HasPrefix(f.Name, "std/")
}

// counted returns "1 argument", "2 arguments".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
