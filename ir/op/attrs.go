package op

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"flow/ir/value"
)

// ValKind is the kind of an attribute's value.
type ValKind uint8

// The kinds of attribute values.
const (
	NoVal ValKind = iota
	IntVal
	FloatVal
	BoolVal
	StrVal
	IntsVal
)

func (k ValKind) String() string {
	return [...]string{"nothing", "i64", "f64", "bool", "str", "list of i64"}[k]
}

// Val is a plan-time constant in an attribute.
type Val struct {
	Kind ValKind
	I    int64 // IntVal, BoolVal
	F    float64
	S    string
	L    []int64
}

// Int returns an i64 attribute.
func Int(x int) Val { return Val{Kind: IntVal, I: int64(x)} }

// Float returns an f64 attribute.
func Float(x float64) Val { return Val{Kind: FloatVal, F: x} }

// Bool returns a bool attribute.
func Bool(x bool) Val {
	if x {
		return Val{Kind: BoolVal, I: 1}
	}
	return Val{Kind: BoolVal}
}

// Str returns a str attribute.
func Str(x string) Val { return Val{Kind: StrVal, S: x} }

// Ints returns a list attribute.
func Ints(x ...int) Val {
	l := make([]int64, len(x))
	for i, v := range x {
		l[i] = int64(v)
	}
	return Val{Kind: IntsVal, L: l}
}

// Equal reports whether kinds and bits are equal.
func (v Val) Equal(o Val) bool {
	if v.Kind != o.Kind || v.I != o.I || v.S != o.S || math.Float64bits(v.F) != math.Float64bits(o.F) || len(v.L) != len(o.L) {
		return false
	}
	for i := range v.L {
		if v.L[i] != o.L[i] {
			return false
		}
	}
	return true
}

// String returns the value in printed IR. Floats always have a point, an exponent or a word, so
// that they read back as floats.
func (v Val) String() string {
	switch v.Kind {
	case IntVal:
		return strconv.FormatInt(v.I, 10)
	case FloatVal:
		s := value.FormatFloat(v.F, 64)
		if !strings.ContainsAny(s, ".einf") {
			s += ".0"
		}
		return s
	case BoolVal:
		return strconv.FormatBool(v.I != 0)
	case StrVal:
		return strconv.Quote(v.S)
	case IntsVal:
		parts := make([]string, len(v.L))
		for i, x := range v.L {
			parts[i] = strconv.FormatInt(x, 10)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "none"
}

// Attrs are the attributes of a node: named constants, sorted by name. They are immutable and
// shared between nodes. A nil *Attrs is empty.
type Attrs struct{ list []Attr }

// Attr is one attribute.
type Attr struct {
	Name string
	Val  Val
}

// MakeAttrs returns the set of these attributes. Later ones of the same name win.
func MakeAttrs(list ...Attr) *Attrs {
	if len(list) == 0 {
		return nil
	}
	out := make([]Attr, 0, len(list))
	for _, a := range list {
		i, known := slices.BinarySearchFunc(out, a.Name, func(o Attr, name string) int { return strings.Compare(o.Name, name) })
		if known {
			out[i] = a
		} else {
			out = slices.Insert(out, i, a)
		}
	}
	return &Attrs{out}
}

func find(list []Attr, name string) int {
	for i := range list {
		if list[i].Name == name {
			return i
		}
	}
	return -1
}

// With returns a with one more or changed attribute. a is unchanged.
func (a *Attrs) With(name string, v Val) *Attrs {
	list := a.List()
	return MakeAttrs(append(list[:len(list):len(list)], Attr{name, v})...)
}

// List returns the attributes in order. The caller must not change it.
func (a *Attrs) List() []Attr {
	if a == nil {
		return nil
	}
	return a.list
}

// Get returns the attribute of that name.
func (a *Attrs) Get(name string) (Val, bool) {
	if a != nil {
		if i := find(a.list, name); i >= 0 {
			return a.list[i].Val, true
		}
	}
	return Val{}, false
}

// Val returns the attribute of that name. It returns a Val of kind NoVal if there is none.
func (a *Attrs) Val(name string) Val { v, _ := a.Get(name); return v }

// Int returns an i64 attribute, 0 if absent.
func (a *Attrs) Int(name string) int { v, _ := a.Get(name); return int(v.I) }

// Float returns an f64 attribute (or a widened i64), 0 if absent.
func (a *Attrs) Float(name string) float64 {
	v, _ := a.Get(name)
	if v.Kind == IntVal {
		return float64(v.I)
	}
	return v.F
}

// Bool returns a bool attribute, false if absent.
func (a *Attrs) Bool(name string) bool { v, _ := a.Get(name); return v.I != 0 }

// Str returns a str attribute, "" if absent.
func (a *Attrs) Str(name string) string { v, _ := a.Get(name); return v.S }

// Ints returns a list attribute, nil if absent. The caller must not change it.
func (a *Attrs) Ints(name string) []int64 { v, _ := a.Get(name); return v.L }

// Equal reports whether names and values are equal.
func (a *Attrs) Equal(b *Attrs) bool {
	x, y := a.List(), b.List()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Name != y[i].Name || !x[i].Val.Equal(y[i].Val) {
			return false
		}
	}
	return true
}

// String returns the attributes in printed IR, `{n=4, seed=7}`, or "".
func (a *Attrs) String() string {
	if len(a.List()) == 0 {
		return ""
	}
	parts := make([]string, len(a.list))
	for i, x := range a.list {
		parts[i] = x.Name + "=" + x.Val.String()
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// ParseVal reads the output of Val.String.
func ParseVal(s string) (Val, error) {
	switch {
	case s == "true" || s == "false":
		return Bool(s == "true"), nil
	case strings.HasPrefix(s, `"`):
		u, err := strconv.Unquote(s)
		return Str(u), err
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		v := Val{Kind: IntsVal, L: []int64{}}
		for _, p := range strings.Split(s[1:len(s)-1], ",") {
			if p = strings.TrimSpace(p); p == "" {
				continue
			}
			x, err := strconv.ParseInt(p, 10, 64)
			if err != nil {
				return v, err
			}
			v.L = append(v.L, x)
		}
		return v, nil
	case strings.ContainsAny(s, ".einf") && s != "":
		x, err := strconv.ParseFloat(s, 64)
		return Float(x), err
	}
	x, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return Val{}, fmt.Errorf("%q is no attribute value", s)
	}
	return Val{Kind: IntVal, I: x}, nil
}
