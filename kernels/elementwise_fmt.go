package kernels

// This file defines fmt, which makes a str of scalars.

import (
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

func formatting() *op.Def {
	return &op.Def{
		Name: "fmt",
		Doc:  "fmt is the str `format` with each {} replaced by the next argument as emit prints it; {{ and }} are braces.",
		Args: []op.Arg{{Name: "format"}, {Name: "args", Rest: true}},
		Eg:   eg(`fmt("{} of {}", 3, "four")`, "3 of four"),
		Type: fmtType,
		Ref: func(c *op.Call) (value.Value, error) {
			s, err := formatted(c)
			return value.Str(s), err
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
		Cost: func(s *op.Sig, _ types.Type) op.Work { return op.Work{Flops: 100 * float64(len(s.In))} },
		Kernel: func(c *op.Call) error {
			s, err := formatted(c)
			c.Out = value.Str(s)
			return err
		},
	}
}

func fmtType(s *op.Sig) (types.Type, error) {
	for i, t := range s.In {
		if t.Kind != types.Scalar {
			return types.Type{}, op.Faultf(i, codeKind, "`fmt` takes scalars, not %v", t)
		}
	}
	if s.In[0].Elem != types.Str {
		return types.Type{}, op.Faultf(0, codeKind, "the first argument of `fmt` is a str, not %v", s.In[0])
	}
	if len(s.Consts) > 0 {
		if f, ok := s.Consts[0].(value.Scalar); ok {
			if err := checkFormat(f.S, len(s.In)-1); err != nil {
				return types.Type{}, op.Faultf(0, codeElem, "%s", err.Msg)
			}
		}
	}
	return types.ScalarOf(types.Str), nil
}

// holes splits a format at its {}: one more piece than holes. ok is false for a single brace.
func holes(format string) (pieces []string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		two := format[i:min(i+2, len(format))]
		switch {
		case two == "{}":
			pieces = append(pieces, b.String())
			b.Reset()
			i++
		case two == "{{" || two == "}}":
			b.WriteByte(format[i])
			i++
		case format[i] == '{' || format[i] == '}':
			return nil, false
		default:
			b.WriteByte(format[i])
		}
	}
	return append(pieces, b.String()), true
}

func checkFormat(format string, args int) *op.Failure {
	pieces, ok := holes(format)
	switch {
	case !ok:
		return op.Failf(codeData, "fmt: a single brace in %q; write {{ or }} for a brace", format)
	case len(pieces)-1 != args:
		return op.Failf(codeData, "fmt: %d of {} in the format, %d arguments", len(pieces)-1, args)
	}
	return nil
}

func formatted(c *op.Call) (string, error) {
	format := c.Scalar(0).S
	if err := checkFormat(format, len(c.In)-1); err != nil {
		return "", err
	}
	pieces, _ := holes(format)
	var b strings.Builder
	for i, p := range pieces {
		b.WriteString(p)
		if i+1 < len(pieces) {
			b.WriteString(c.Scalar(i + 1).String())
		}
	}
	return b.String(), nil
}
