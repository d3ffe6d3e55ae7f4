package value

import (
	"fmt"
	"math"
	"strconv"

	"flow/ir/types"
)

// Value is what an edge carried. Values are immutable once sent; the runtime
// alone may reuse the memory of one whose last reader it is.
type Value interface{ Type() types.Type }

// Scalar is one element. F holds f64 and f32 (rounded), I holds i64, bool (0, 1),
// time and dur, S holds str, and the bytes of a picture.
type Scalar struct {
	Elem types.Elem
	F    float64
	I    int64
	S    string
}

// Type is the scalar's type.
func (s Scalar) Type() types.Type { return types.ScalarOf(s.Elem) }

// F64 is a scalar f64.
func F64(x float64) Scalar { return Scalar{Elem: types.F64, F: x} }

// I64 is a scalar i64.
func I64(x int64) Scalar { return Scalar{Elem: types.I64, I: x} }

// Str is a scalar str.
func Str(x string) Scalar { return Scalar{Elem: types.Str, S: x} }

// Bool is a scalar bool.
func Bool(x bool) Scalar {
	if x {
		return Scalar{Elem: types.Bool, I: 1}
	}
	return Scalar{Elem: types.Bool}
}

// Float is the scalar as a float64, whatever its numeric type.
func (s Scalar) Float() float64 {
	if s.Elem.IsFloat() {
		return s.F
	}
	return float64(s.I)
}

// True reports a bool that is true, or a number that is not zero.
func (s Scalar) True() bool { return s.Float() != 0 }

// Convert is the scalar as another numeric type: floats truncate towards zero to
// i64, f32 rounds to nearest even. Of a float that is no i64 it says nothing: the
// operators fail before they ask.
func (s Scalar) Convert(e types.Elem) Scalar {
	switch {
	case s.Elem == e:
		return s
	case e == types.F64:
		return F64(s.Float())
	case e == types.F32 && !s.Elem.IsFloat(): // once: by way of float64 it would round twice
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

// Same reports the same bits, where all NaNs are one: which of two NaNs an addition hands on, and the sign of one that
// it makes, are the processor's business. -0 differs from 0.
func (s Scalar) Same(o Scalar) bool {
	same := math.Float64bits(s.F) == math.Float64bits(o.F) || s.F != s.F && o.F != o.F
	return s.Elem == o.Elem && s.I == o.I && s.S == o.S && same
}

// String is the shortest text that reads back as the same scalar.
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

// FormatFloat is the shortest decimal that reads back as x in that many bits, as
// the language writes it: inf and nan in lower case, and whole numbers that the type
// counts one by one (up to 2^53 of f64, 2^24 of f32) without an exponent.
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

// Counted reports a whole number up to which a float of that many bits has all whole numbers.
func Counted(x float64, bits int) bool {
	most := float64(1 << 53)
	if bits == 32 {
		most = 1 << 24
	}
	return x == math.Trunc(x) && math.Abs(x) <= most
}

// Tuple is the results of a loop or a branch.
type Tuple []Value

// Type is the tuple of the types of its parts; a part that is nil is an effect.
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
