package elementwise

// This file defines what stands after the colon of a placeholder of fmt:
// [[fill]align][sign][0][width][,][.precision][form], as in Python's format specification
// mini-language, of which it is a part.

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

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
