package types

import "testing"

func TestStringParseRoundTrip(t *testing.T) {
	tok := DenseOf(F32, 3, 4)
	for _, typ := range []Type{
		ScalarOf(F64), ScalarOf(Str), ScalarOf(Picture), DenseOf(F64, 0, 7), DenseOf(Bool, Unknown, 1), EffectType(),
		{Kind: Matrix, Elem: Bool, Repr: CSR, Rows: 5, Cols: 6},
		{Kind: Stream, Ext: &Ext{Token: &tok}},
		{Kind: Frame, Ext: &Ext{Fields: []Field{{"id", ScalarOf(I64)}, {"city", ScalarOf(Str)}}}},
		{Kind: Tuple, Ext: &Ext{Fields: []Field{{"", ScalarOf(I64)}, {"", tok}}}},
	} {
		got, err := Parse(typ.String())
		if err != nil || !got.Equal(typ) {
			t.Errorf("Parse(%q) = %v, %v", typ.String(), got, err)
		}
	}
	for _, bad := range []string{"", "f65", "f64[3", "f64[3,x]", "f64[1,2]]", "{a: f64"} {
		if typ, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, typ)
		}
	}
}

func TestWiden(t *testing.T) {
	for _, c := range []struct {
		a, b, want Elem
		ok         bool
	}{{Bool, I64, I64, true}, {I64, F64, F64, true}, {F32, F32, F32, true}, {F32, F64, NoElem, false}, {Str, I64, NoElem, false}} {
		if got, ok := Widen(c.a, c.b); got != c.want || ok != c.ok {
			t.Errorf("Widen(%v, %v) = %v, %v", c.a, c.b, got, ok)
		}
	}
}
