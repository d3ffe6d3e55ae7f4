package elementwise

import (
	"math"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// What fmt prints. The texts are what Python's str.format gives, but for true, nan and inf padded
// with zeros, which stay words.
func TestFormatLayouts(t *testing.T) {
	x, n := value.F64(4.0/3), value.I64(9)
	nan, inf := value.F64(math.NaN()), value.F64(math.Inf(1))
	for _, c := range []struct {
		format string
		arg    value.Scalar
		want   string
	}{
		{"{}", x, "1.3333333333333333"}, {"{:}", n, "9"}, {"{:.3f}", x, "1.333"}, {"{:>8}", n, "       9"}, {"{:8}", n, "       9"}, {"{:<8}|", n, "9       |"},
		{"{:^9}", n, "    9    "}, {"{:^4}|", n, " 9  |"}, {"{:*^9}", n, "****9****"}, {"{:08.2f}", x, "00001.33"}, {"{:08.2f}", value.F64(-4.0 / 3), "-0001.33"},
		{"{:+}", n, "+9"}, {"{:+}", value.I64(-9), "-9"}, {"{: d}", n, " 9"}, {"{:-}", n, "9"}, {"{:,}", value.I64(11111103), "11,111,103"}, {"{:,}", value.I64(-999), "-999"},
		{"{:,.2f}", value.F64(4e9 / 3), "1,333,333,333.33"}, {"{:e}", x, "1.333333e+00"}, {"{:.1E}", value.F64(4e300), "4.0E+300"}, {"{:g}", x, "1.33333"},
		{"{:g}", value.F64(1e6), "1e+06"}, {"{:.0g}", value.F64(150), "2e+02"}, {"{:%}", x, "133.333333%"}, {"{:.2%}", x, "133.33%"}, {"{:.1%}", value.I64(2), "200.0%"},
		{"{:x}", value.I64(255), "ff"}, {"{:X}", value.I64(-255), "-FF"}, {"{:o}", n, "11"}, {"{:b}", n, "1001"}, {"{:05d}", value.I64(-9), "-0009"}, {"{:+05d}", n, "+0009"},
		{"{:<05d}", n, "90000"}, {"{:^08.2f}", value.F64(1.5), "001.5000"}, {"{:x<08}", n, "9xxxxxxx"},
		{"{:010,.1f}", value.F64(-1234.5), "-001,234.5"}, {"{:012,}", value.I64(1234567), "0,001,234,567"}, {"{:+012,}", value.I64(1234567), "+001,234,567"},
		{"{:08,}", value.I64(1234), "0,001,234"}, {"{:0=9,}", value.I64(12345), "0,012,345"}, {"{:=010,}", value.I64(1234), "00,001,234"},
		{"{:09,.2e}", value.F64(12345.6), "01.23e+04"}, {"{:07,}", value.I64(-123), "-00,123"}, {"{:.2f}", n, "9.00"}, {"{:.2}", x, "1.3"}, {"{:.10}", x, "1.333333333"}, {"{:10.3}|", x, "      1.33|"},
		{"{:>5}", value.Str("abc"), "  abc"}, {"{:5}|", value.Str("abc"), "abc  |"}, {"{:.2}", value.Str("éabc"), "éa"}, {"{:s}", value.Str("é"), "é"}, {"{:é>3}", value.Str("a"), "ééa"},
		{"{:>5}", value.Bool(true), " true"}, {"{:}}>3}", n, ""}, {"{{{}}}", n, "{9}"}, {"{:8.2f}", nan, "     nan"}, {"{:08.2f}", value.F64(math.Inf(-1)), "    -inf"}, {"{:+}", inf, "+inf"},
		{"{:.3f}", value.Scalar{Elem: types.F32, F: float64(float32(0.1))}, "0.100"}, {"{:>12}", value.Scalar{Elem: types.F32, F: float64(float32(0.1))}, "         0.1"},
		{"{:.2f}", value.F64(-0.001), "-0.00"}, {"{:.0f}", value.F64(2.5), "2"}, {"{:.0f}", value.F64(3.5), "4"},
	} {
		got, err := formatted(&op.Call{In: []value.Value{value.Str(c.format), c.arg}})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s of %v: no error, %q", c.format, c.arg, got)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s of %v: %q, %v; want %q", c.format, c.arg, got, err, c.want)
		}
	}
}

// A layout that means nothing, or nothing for the type of its argument, says so.
func TestFormatMistakes(t *testing.T) {
	for _, c := range []struct {
		format string
		arg    value.Scalar
		want   string
	}{
		{"{:.3q}", value.F64(1), "`q` is no part of a layout"}, {"{:d}", value.F64(1), "is for integers"}, {"{:.f}", value.F64(1), "digits are missing"},
		{"{0}", value.F64(1), "names an argument"}, {"{:.3f}", value.Str("a"), "is for numbers"}, {"{:f}", value.Bool(true), "is for numbers"}, {"{", value.F64(1), "single brace"}, {"{:", value.F64(1), "single brace"},
		{"}", value.F64(1), "single brace"}, {"{} {}", value.F64(1), "2 of {} in the format, 1 arguments"}, {"{:.2}", value.I64(1), "has a precision"}, {"{:.2x}", value.I64(1), "has a precision"},
		{"{:1001}", value.I64(1), "at most 1000"}, {"{:.99999999999999999999f}", value.F64(1), "at most 1000"}, {"{:s}", value.I64(1), "is for a str"}, {"{:+}", value.Str("a"), "which are for numbers"}, {"{:03}", value.Str("a"), "which are for numbers"},
	} {
		_, err := formatted(&op.Call{In: []value.Value{value.Str(c.format), c.arg}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: %v; want %q", c.format, c.arg, err, c.want)
		}
	}
}
