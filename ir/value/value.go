package value

import (
	"fmt"
	"math"
	"strconv"

	"flow/ir/types"
)

// Value is the value of an edge. It is immutable once sent; only the runtime may reuse its memory,
// for its last reader.
type Value interface{ Type() types.Type }

// Scalar is one element. F holds f64 and f32 (rounded). I holds i64, bool (0, 1), time and dur. S
// holds str and the bytes of a picture.
type Scalar struct {
	Elem types.Elem
	F    float64
	I    int64
	S    string
}

// Type returns the scalar's type.
func (s Scalar) Type() types.Type { return types.ScalarOf(s.Elem) }

// F64 returns a scalar f64.
func F64(x float64) Scalar { return Scalar{Elem: types.F64, F: x} }

// I64 returns a scalar i64.
func I64(x int64) Scalar { return Scalar{Elem: types.I64, I: x} }

// Str returns a scalar str.
func Str(x string) Scalar { return Scalar{Elem: types.Str, S: x} }

// Bool returns a scalar bool.
func Bool(x bool) Scalar {
	if x {
		return Scalar{Elem: types.Bool, I: 1}
	}
	return Scalar{Elem: types.Bool}
}

// Float returns a numeric scalar as a float64.
func (s Scalar) Float() float64 {
	if s.Elem.IsFloat() {
		return s.F
	}
	return float64(s.I)
}

// True reports a true bool or a nonzero number.
func (s Scalar) True() bool { return s.Float() != 0 }

// Convert returns the scalar as another numeric type. Floats truncate towards zero to i64; f32
// rounds to nearest even. A float outside i64 has no defined result: operators fail before they
// convert it.
func (s Scalar) Convert(e types.Elem) Scalar {
	if s.Elem == e { // nearly always: the compiler of Go puts it in the caller
		return s
	}
	return s.converted(e)
}

// converted is Convert to another type than the scalar has.
func (s Scalar) converted(e types.Elem) Scalar {
	switch {
	case e == types.F64:
		return F64(s.Float())
	case e == types.F32 && !s.Elem.IsFloat(): // once: through float64 it would round twice
		return Scalar{Elem: e, F: float64(float32(s.I))}
	case e == types.F32:
		return Scalar{Elem: e, F: float64(float32(s.F))}
	case e == types.Bool:
		return Bool(s.True())
	case s.Elem.IsFloat():
		return Scalar{Elem: e, I: int64(s.F)}
	}
	return Scalar{Elem: e, I: s.I}
}

// Same reports whether the bits are equal. All NaNs are equal, since the processor decides their
// sign and payload. -0 differs from 0.
func (s Scalar) Same(o Scalar) bool {
	same := math.Float64bits(s.F) == math.Float64bits(o.F) || s.F != s.F && o.F != o.F
	return s.Elem == o.Elem && s.I == o.I && s.S == o.S && same
}

// String returns the shortest text that reads back as the same scalar.
func (s Scalar) String() string {
	switch s.Elem {
	case types.F64:
		return FormatFloat(s.F, 64)
	case types.F32:
		return FormatFloat(s.F, 32)
	case types.I64, types.Dur, types.Time:
		return strconv.FormatInt(s.I, 10)
	case types.Bool:
		return strconv.FormatBool(s.I != 0)
	case types.Str:
		return s.S
	case types.Picture:
		return "picture"
	}
	return fmt.Sprintf("scalar(%v)", s.Elem)
}

// FormatFloat returns the shortest decimal that reads back as x in that many bits, as the language
// writes it: inf and nan in lower case, and whole numbers up to 2^53 (f32: 2^24) without an
// exponent.
func FormatFloat(x float64, bits int) string {
	switch {
	case Counted(x, bits):
		return strconv.FormatFloat(x, 'f', -1, bits)
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}

// Counted reports whether x is a whole number up to which a float of that many bits holds all whole
// numbers.
func Counted(x float64, bits int) bool {
	most := float64(1 << 53)
	if bits == 32 {
		most = 1 << 24
	}
	return x == math.Trunc(x) && math.Abs(x) <= most
}

// Tuple holds the results of a loop or a branch.
type Tuple []Value

// Type returns the tuple of the types of its parts. A nil part is an effect.
func (t Tuple) Type() types.Type {
	ext := &types.Ext{}
	for _, v := range t {
		f := types.Field{Type: types.EffectType()}
		if v != nil {
			f.Type = v.Type()
		}
		ext.Fields = append(ext.Fields, f)
	}
	return types.Type{Kind: types.Tuple, Ext: ext}
}
