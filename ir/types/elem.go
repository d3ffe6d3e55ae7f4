package types

import "fmt"

// Elem is the type of a scalar or a matrix element.
type Elem uint8

// The element types of the language. A new one is a row in elems.
const (
	NoElem Elem = iota
	Bool
	I64
	F32
	F64
	Str
	Time    // nanoseconds since the epoch, UTC
	Dur     // nanoseconds
	Picture // drawn by emit; a scalar, never a matrix element
)

// elems is the table of element types, by Elem: the word in source and printed IR, the size in
// bytes (0: not fixed), and the rank in implicit widening (0: none).
var elems = [...]struct {
	name string
	size int
	wide int
}{
	NoElem:  {"?", 0, 0},
	Bool:    {"bool", 1, 1},
	I64:     {"i64", 8, 2},
	F32:     {"f32", 4, 0},
	F64:     {"f64", 8, 3},
	Str:     {"str", 0, 0},
	Time:    {"time", 8, 0},
	Dur:     {"dur", 8, 0},
	Picture: {"picture", 0, 0},
}

func (e Elem) String() string {
	if int(e) < len(elems) {
		return elems[e].name
	}
	return fmt.Sprintf("elem(%d)", uint8(e))
}

// Size returns the bytes of one element in a dense matrix; 0 for str and picture.
func (e Elem) Size() int { return elems[e].size }

// IsFloat reports f32 or f64.
func (e Elem) IsFloat() bool { return e == F32 || e == F64 }

// IsNumeric reports whether arithmetic is defined. bool counts as 0 and 1.
func (e Elem) IsNumeric() bool { return e >= Bool && e <= F64 }

// ElemNamed returns the element type of that name.
func ElemNamed(name string) (Elem, bool) {
	for e := Bool; int(e) < len(elems); e++ {
		if elems[e].name == name {
			return e, true
		}
	}
	return NoElem, false
}

// Widen returns the common type of a and b in arithmetic: bool -> i64 -> f64 is implicit,
// everything else must be equal (language reference, "Conversions").
func Widen(a, b Elem) (Elem, bool) {
	if a == b {
		return a, true
	}
	wa, wb := elems[a].wide, elems[b].wide
	if wa == 0 || wb == 0 {
		return NoElem, false
	}
	if wa > wb {
		return a, true
	}
	return b, true
}
