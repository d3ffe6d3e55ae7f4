package inout

// This file defines what touches the world outside: read, emit and assert.

import (
	"errors"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/format"
)

// codeOf is the diagnostic code of what is wrong with a file.
func codeOf(c format.Cause) string {
	switch c {
	case format.UnknownFormat:
		return "E502"
	case format.MatrixMarket:
		return "E503"
	case format.CSV:
		return "E504"
	case format.NPY:
		return "E505"
	case format.Gzip:
		return "E506"
	case format.Unwritable:
		return define.CodeUnwritten
	case format.Edges:
		return "E513"
	case format.CSR:
		return "E514"
	case format.TooLarge:
		return define.CodeMemory
	}
	return define.CodeUnread // unreadable
}

// fileFault is the error of a file as a refusal of argument arg.
func fileFault(arg int, err error) error {
	var e *format.Error
	if !errors.As(err, &e) {
		return op.Faultf(arg, define.CodeUnread, "%v", err)
	}
	return &op.Fault{Arg: arg, Code: codeOf(e.Cause), Msg: e.Error(), Help: e.Help}
}

// fileFailure is the error of a file as a failure of the run.
func fileFailure(err error) error {
	var e *format.Error
	if !errors.As(err, &e) {
		return op.Failf(define.CodeUnread, "%v", err)
	}
	return &op.Failure{Code: codeOf(e.Cause), Msg: e.Error(), Help: e.Help}
}

func assertRow() *op.Def {
	d := &op.Def{
		Name: "assert",
		Doc: "assert ends the run with a failure when its condition is false; an assert above an emit guards it: nothing below is printed. " +
			"Written as a statement: `assert x > 0, \"text\"`.",
		Args: []op.Arg{{Name: "cond", Doc: "bool"},
			{Name: "after", Rest: true, Doc: "the text of the failure when it is computed, and effects that come first; the compiler writes them"},
			{Name: "message", Attr: true, Kind: op.StrVal, Optional: true, Doc: "text of the failure"}},
		Eg:   []op.Example{{Program: "assert 1 + 1 == 2, \"arithmetic\"\nemit \"ok\"", Output: "ok\n"}},
		Type: assertType,
		Laws: op.Effectful,
		Cost: func(*op.Sig, types.Type) op.Work { return op.Work{} },
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		if c.Scalar(0).I != 0 {
			return nil, nil
		}
		message := c.Attrs.Str("message")
		if len(c.In) > 1 {
			if m, ok := c.In[1].(value.Scalar); ok {
				message = m.S
			}
		}
		if message != "" {
			return nil, op.Failf(define.CodeAssert, "assertion failed: %s", message)
		}
		return nil, op.Failf(define.CodeAssert, "assertion failed")
	}
	d.Kernel = func(c *op.Call) error { _, err := d.Ref(c); return err }
	d.Elements = func(e *op.Elements) op.Element {
		e.B.Check(0, e.In[0].At(loop.Num(0), loop.Num(0)))
		return nil
	}
	return d
}

func assertType(s *op.Sig) (types.Type, error) {
	if t := s.In[0]; t != types.ScalarOf(types.Bool) {
		f := op.Faultf(0, define.CodeKind, "assert takes one bool; this is %s", t)
		switch {
		case t.IsMatrix() && t.Elem == types.Bool:
			f.WithHelp("min(x) is true when every element is")
		case t.Elem.IsNumeric():
			f.WithHelp("compare it: x != 0")
		}
		return types.Type{}, f
	}
	if len(s.In) > 1 && s.In[1] == types.ScalarOf(types.Str) {
		return define.EffectType(s, 2)
	}
	return define.EffectType(s, 1)
}
