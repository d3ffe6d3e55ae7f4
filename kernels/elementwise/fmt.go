package elementwise

// This file defines fmt and str, which make a str of scalars.

import (
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// textWork is the cost of printing some numbers.
func textWork(s *op.Sig, _ types.Type) op.Work { return op.Work{Flops: 100 * float64(len(s.In))} }

func formatting() *op.Def {
	return define.ByDefinition(&op.Def{
		Name: "fmt",
		Doc: "fmt is the str `format` with each {} replaced by the next argument as emit prints it; {{ and }} are braces. A layout may follow a " +
			"colon, [[fill]align][sign][0][width][,][.precision][form]: {:.3f} has three digits after the point, {:>8} eight characters, filled from " +
			"the left, {:<8} and {:^8} from the right and on both sides, {:*>8} with stars, {:08.2f} with zeros, {:+} with a sign, {:,} with commas. The " +
			"forms are d, x, o, b (integers), f, e, g, % (numbers) and s (str).",
		Args: []op.Arg{{Name: "format"}, {Name: "args", Rest: true}},
		Eg: append(define.Eg(`fmt("{} of {}", 3, "four")`, "3 of four"),
			define.Eg(`fmt("{:.3f} {:>6} {:+.1e} {:.1%}", 3.14159, "abc", 1234.5, 0.256)`, "3.142    abc +1.2e+03 25.6%")...),
		Type: fmtType,
		Ref: func(c *op.Call) (value.Value, error) {
			s, err := formatted(c)
			return value.Str(s), err
		},
		Laws: op.Pure, Cost: textWork,
	})
}

// Texts is the row of str.
func Texts() *op.Def {
	return define.ByDefinition(&op.Def{
		Name: "str",
		Doc:  "str is a scalar as emit prints it, as a str. The sign + joins two of them; fmt lays numbers out.",
		Args: []op.Arg{{Name: "x", Doc: "scalar"}},
		Eg:   define.Eg(`"n = " + str(3)`, "n = 3"),
		Type: func(s *op.Sig) (types.Type, error) {
			if s.In[0].Kind != types.Scalar || s.In[0].Elem == types.Picture {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`str` takes a scalar, not %v", s.In[0]).WithHelp("emit prints matrices, with a label: emit x as \"x\"")
			}
			return types.ScalarOf(types.Str), nil
		},
		Ref:  func(c *op.Call) (value.Value, error) { return value.Str(c.Scalar(0).String()), nil },
		Laws: op.Pure, Cost: textWork,
	})
}

func fmtType(s *op.Sig) (types.Type, error) {
	for i, t := range s.In {
		if t.Kind != types.Scalar || t.Elem == types.Picture {
			return types.Type{}, op.Faultf(i, define.CodeKind, "`fmt` takes scalars, not %v", t)
		}
	}
	if s.In[0].Elem != types.Str {
		return types.Type{}, op.Faultf(0, define.CodeKind, "the first argument of `fmt` is a str, not %v", s.In[0])
	}
	if len(s.Consts) > 0 {
		if f, ok := s.Consts[0].(value.Scalar); ok {
			if _, err := layoutOf(f.S, s.In[1:]); err != nil {
				return types.Type{}, op.Faultf(0, define.CodeElem, "%s", err.Msg).WithHelp("%s", err.Help)
			}
		}
	}
	return types.ScalarOf(types.Str), nil
}

// layout is a format read: the text before each placeholder and after the last.
type layout struct {
	pieces []string
	specs  []fmtSpec
}

// layoutOf reads a format for arguments of these types.
func layoutOf(format string, in []types.Type) (layout, *op.Failure) {
	var l layout
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		two := format[i:min(i+2, len(format))]
		switch {
		case two == "{{" || two == "}}":
			b.WriteByte(format[i])
			i++
		case two == "{}" || two == "{:":
			n := strings.IndexByte(format[i:], '}')
			if n < 0 {
				return l, singleBrace(format)
			}
			spec, err := parseSpec(strings.TrimPrefix(format[i+1:i+n], ":"))
			if err != nil {
				return l, err
			}
			l.pieces, l.specs = append(l.pieces, b.String()), append(l.specs, spec)
			b.Reset()
			i += n
		case format[i] == '{':
			if n := strings.IndexByte(format[i:], '}'); n > 0 {
				return l, op.Failf(define.CodeData, "fmt: %s in the format names an argument", format[i:i+n+1]).
					WithHelp("placeholders are {} or {:layout}, in the order of the arguments; {{ and }} are braces")
			}
			return l, singleBrace(format)
		case format[i] == '}':
			return l, singleBrace(format)
		default:
			b.WriteByte(format[i])
		}
	}
	l.pieces = append(l.pieces, b.String())
	if len(l.specs) != len(in) {
		return l, op.Failf(define.CodeData, "fmt: %d of {} in the format, %d arguments", len(l.specs), len(in)).
			WithHelp("each {} takes one argument, in their order; {{ and }} are braces")
	}
	for i := range in {
		if err := l.specs[i].takes(in[i].Elem); err != nil {
			return l, err
		}
	}
	return l, nil
}

func singleBrace(format string) *op.Failure {
	return op.Failf(define.CodeData, "fmt: a single brace in %q; write {{ or }} for a brace", format).
		WithHelp("a placeholder is {} or {:layout}, as {:.3f}")
}

func formatted(c *op.Call) (string, error) {
	in := make([]types.Type, len(c.In)-1)
	for i := range in {
		in[i] = c.In[i+1].Type()
	}
	l, bad := layoutOf(c.Scalar(0).S, in)
	if bad != nil {
		return "", bad
	}
	var b []byte
	for i, p := range l.pieces {
		b = append(b, p...)
		if err := op.TextTooLong(len(b)); err != nil {
			return "", err
		}
		if i < len(l.specs) {
			b = l.specs[i].append(b, c.Scalar(i+1))
		}
	}
	return string(b), nil
}
