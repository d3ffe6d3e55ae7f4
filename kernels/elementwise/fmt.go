package elementwise

// This file defines fmt and str, which make a str of scalars.

import (
	"strconv"
	"strings"
	"unicode/utf8"

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

// After the colon of a placeholder of fmt comes [[fill]align][sign][0][width][,][.precision][form], as
// in Python's format specification mini-language, of which it is a part.

// fmtSpec is the layout of one placeholder. The zero value prints as emit does.
type fmtSpec struct {
	text      string // as written
	fill      rune   // 0: a space
	align     byte   // < > ^, or = for padding after the sign; 0: numbers right, texts left
	sign      byte   // + or space before what is not negative; 0: nothing
	width     int    // the least number of characters
	group     bool   // a comma between groups of three digits
	precision int    // -1: none
	form      byte   // d x X o b e E f g G % s; 0: by the type
}

// mostWidth bounds widths and precisions: a placeholder is a part of a line.
const mostWidth = 1000

const fmtForms = "dxXobeEfgG%s"

// parseSpec reads the text between the colon and the closing brace.
func parseSpec(text string) (fmtSpec, *op.Failure) {
	s := fmtSpec{text: text, precision: -1}
	rest := text
	isAlign := func(c byte) bool { return strings.IndexByte("<>^=", c) >= 0 }
	if r, n := utf8.DecodeRuneInString(rest); n < len(rest) && n > 0 && isAlign(rest[n]) {
		s.fill, s.align, rest = r, rest[n], rest[n+1:]
	} else if rest != "" && isAlign(rest[0]) {
		s.align, rest = rest[0], rest[1:]
	}
	if rest != "" && strings.IndexByte("+- ", rest[0]) >= 0 {
		if s.sign = rest[0]; s.sign == '-' { // only negative numbers have a sign: the default
			s.sign = 0
		}
		rest = rest[1:]
	}
	if rest != "" && rest[0] == '0' {
		if s.fill == 0 {
			s.fill = '0'
		}
		if s.align == 0 {
			s.align = '='
		}
		rest = rest[1:]
	}
	number := func(what string) (n int, err *op.Failure) {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, bad := strconv.Atoi(rest[:digits])
		if bad != nil || n > mostWidth {
			return 0, op.Failf(define.CodeData, "fmt: {:%s} has a %s of %s; it is at most %d", text, what, rest[:digits], mostWidth).
				WithHelp("a placeholder is a part of a line; fill makes a matrix of equal values")
		}
		rest = rest[digits:]
		return n, nil
	}
	var err *op.Failure
	if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		if s.width, err = number("width"); err != nil {
			return s, err
		}
	}
	if s.group = strings.HasPrefix(rest, ","); s.group {
		rest = rest[1:]
	}
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			return s, badSpec(text, "digits are missing after the point")
		}
		if s.precision, err = number("precision"); err != nil {
			return s, err
		}
	}
	if rest != "" && strings.IndexByte(fmtForms, rest[0]) >= 0 {
		s.form, rest = rest[0], rest[1:]
	}
	if rest != "" {
		return s, badSpec(text, "`"+rest+"` is no part of a layout")
	}
	return s, nil
}

func badSpec(text, why string) *op.Failure {
	return op.Failf(define.CodeData, "fmt: in {:%s} %s", text, why).
		WithHelp("a layout is [[fill]< > or ^][+][0][width][,][.precision][form], the form one of d x o b e f g % s: {:.3f}, {:>8}, {:+.2e}")
}

// wordLayouts is the help of a layout that only numbers have.
const wordLayouts = "a str or bool has a width and a side, as {:>8} or {:^8}"

// takes reports what is wrong with the layout for values of type e; nil: nothing.
func (s *fmtSpec) takes(e types.Elem) *op.Failure {
	number := e != types.Str && e != types.Bool
	whole := e == types.I64
	switch {
	case strings.IndexByte("dxXob", s.form) >= 0 && s.form != 0 && !whole:
		f := op.Failf(define.CodeData, "fmt: {:%s} is for integers, this is a value of type %v", s.text, e)
		switch {
		case number:
			return f.WithHelp("i64(x) converts; {:.0f} rounds to a whole number")
		case e == types.Bool:
			return f.WithHelp("i64(x) makes 1 of true and 0 of false")
		}
		return f.WithHelp(wordLayouts)
	case s.form != 0 && s.form != 's' && !number:
		return op.Failf(define.CodeData, "fmt: {:%s} is for numbers, this is a value of type %v", s.text, e).WithHelp(wordLayouts)
	case s.form == 's' && number:
		return op.Failf(define.CodeData, "fmt: {:%s} is for a str, this is a value of type %v", s.text, e).WithHelp("leave the s out")
	case !number && (s.sign != 0 || s.group || s.align == '='):
		return op.Failf(define.CodeData, "fmt: {:%s} has a sign, zeros or groups, which are for numbers; this is a value of type %v", s.text, e).
			WithHelp(wordLayouts)
	case s.precision >= 0 && (s.form == 0 && whole || strings.IndexByte("dxXob", s.form) >= 0 && s.form != 0 || e == types.Bool):
		return op.Failf(define.CodeData, "fmt: {:%s} has a precision, which a value of type %v has not", s.text, e).WithHelp("{:.3f} prints three digits after the point")
	}
	return nil
}

// append appends x in the layout, which takes its type.
func (s *fmtSpec) append(out []byte, x value.Scalar) []byte {
	if s.text == "" {
		return append(out, x.String()...)
	}
	sign, body := s.body(x)
	if s.group && s.fill == '0' && s.align == '=' && finite(x) {
		body = zeroGroups(body, s.width-len(sign))
	}
	align, pad := s.align, s.width-utf8.RuneCountInString(sign)-utf8.RuneCountInString(body)
	if align == 0 {
		if align = '>'; x.Elem == types.Str || x.Elem == types.Bool {
			align = '<'
		}
	}
	fill := s.fill
	if fill == 0 || fill == '0' && align == '=' && !finite(x) {
		fill = ' '
	}
	left, inner, right := 0, 0, 0
	switch pad = max(pad, 0); align {
	case '<':
		right = pad
	case '>':
		left = pad
	case '^':
		left, right = pad/2, pad-pad/2
	default:
		if inner = pad; fill == ' ' && !finite(x) { // zeros are no part of inf and nan: blanks before the sign
			left, inner = pad, 0
		}
	}
	out = Repeated(out, fill, left)
	out = append(out, sign...)
	out = Repeated(out, fill, inner)
	out = append(out, body...)
	return Repeated(out, fill, right)
}

func finite(x value.Scalar) bool { return !x.Elem.IsFloat() || x.F-x.F == 0 }

// Repeated appends n times r to out.
func Repeated(out []byte, r rune, n int) []byte {
	for range n {
		out = utf8.AppendRune(out, r)
	}
	return out
}

// body is the text of x without padding, a sign apart from the rest.
func (s *fmtSpec) body(x value.Scalar) (sign, text string) {
	switch x.Elem {
	case types.Str, types.Bool:
		text = x.String()
		if s.precision >= 0 && utf8.RuneCountInString(text) > s.precision {
			text = string([]rune(text)[:s.precision])
		}
		return "", text
	case types.I64:
		text = s.integer(x)
	default:
		text = s.float(x.F, map[types.Elem]int{types.F32: 32}[x.Elem])
	}
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	} else if s.sign != 0 {
		sign = string(s.sign)
	}
	if s.group {
		text = grouped(text)
	}
	return sign, text
}

func (s *fmtSpec) integer(x value.Scalar) string {
	switch s.form {
	case 'x':
		return strconv.FormatInt(x.I, 16)
	case 'X':
		return strings.ToUpper(strconv.FormatInt(x.I, 16))
	case 'o':
		return strconv.FormatInt(x.I, 8)
	case 'b':
		return strconv.FormatInt(x.I, 2)
	case 0, 'd':
		return strconv.FormatInt(x.I, 10)
	}
	return s.float(float64(x.I), 64)
}

// float is x with the form and precision; bits is 32 of an f32, whose shortest decimal is shorter,
// else 0 or 64.
func (s *fmtSpec) float(x float64, bits int) string {
	if bits == 0 {
		bits = 64
	}
	if x-x != 0 {
		return value.FormatFloat(x, bits)
	}
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	switch s.form {
	case 'e', 'E', 'f':
		return strconv.FormatFloat(x, s.form, precision, 64)
	case '%':
		return strconv.FormatFloat(100*x, 'f', precision, 64) + "%"
	case 'g', 'G':
		return strconv.FormatFloat(x, s.form, max(precision, 1), 64)
	}
	if s.precision >= 0 {
		return strconv.FormatFloat(x, 'g', max(precision, 1), 64)
	}
	return value.Scalar{Elem: map[bool]types.Elem{true: types.F32, false: types.F64}[bits == 32], F: x}.String()
}

// grouped is a number with a comma before every third digit of its whole part.
func grouped(text string) string {
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if n <= 3 {
		return text
	}
	var b strings.Builder
	for i := range n {
		if i > 0 && (n-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(text[i])
	}
	return b.String() + text[n:]
}

// zeroGroups is a grouped number with zeros before it, at least width characters: the zeros are
// grouped, too, and none of the groups is empty, so there may be one character more.
func zeroGroups(text string, width int) string {
	for len(text) < width {
		head := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if head < 0 {
			head = len(text)
		}
		if head%3 == 0 {
			text = "," + text
		}
		text = "0" + text
	}
	return text
}
