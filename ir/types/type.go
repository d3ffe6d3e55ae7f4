package types

import (
	"strconv"
	"strings"
)

// Kind is the kind of thing that an edge carries.
type Kind uint8

// The kinds of edges.
const (
	Invalid Kind = iota
	Scalar
	Matrix // Rows x Cols of Elem, in representation Repr
	Record
	Frame
	Tuple
	Stream // 0..inf tokens of Ext.Token, then close
	Effect // order only: the edge between an assert and the emit that it guards
)

// Repr is the storage form of a matrix.
type Repr uint8

// The representations of matrices.
const (
	Dense Repr = iota // row-major
	CSR               // compressed sparse rows
)

// Unknown is a dimension that only the run knows.
const Unknown = -1

// Type is the type of an edge. Compare types with ==, or with Equal if they have an Ext.
type Type struct {
	Kind       Kind
	Elem       Elem
	Repr       Repr
	Rows, Cols int
	Ext        *Ext
}

// Ext is the part of a type that two numbers cannot express.
type Ext struct {
	Fields []Field // of Record, Frame and Tuple
	Token  *Type   // of Stream
}

// Field is one named part. Tuples may leave Name empty.
type Field struct {
	Name string
	Type Type
}

// ScalarOf returns the type of one e.
func ScalarOf(e Elem) Type { return Type{Kind: Scalar, Elem: e} }

// DenseOf returns the type of a dense rows x cols matrix of e.
func DenseOf(e Elem, rows, cols int) Type {
	return Type{Kind: Matrix, Elem: e, Repr: Dense, Rows: rows, Cols: cols}
}

// SparseOf returns the type of a sparse rows x cols matrix of e.
func SparseOf(e Elem, rows, cols int) Type {
	return Type{Kind: Matrix, Elem: e, Repr: CSR, Rows: rows, Cols: cols}
}

// EffectType returns the type of an edge that carries only order.
func EffectType() Type { return Type{Kind: Effect} }

// TupleOf returns the type of several values in one.
func TupleOf(parts ...Type) Type {
	ext := &Ext{}
	for _, t := range parts {
		ext.Fields = append(ext.Fields, Field{Type: t})
	}
	return Type{Kind: Tuple, Ext: ext}
}

// IsScalar reports a single element.
func (t Type) IsScalar() bool { return t.Kind == Scalar }

// IsMatrix reports a matrix of either representation.
func (t Type) IsMatrix() bool { return t.Kind == Matrix }

// IsDense reports a dense matrix.
func (t Type) IsDense() bool { return t.Kind == Matrix && t.Repr == Dense }

// IsSparse reports a sparse matrix.
func (t Type) IsSparse() bool { return t.Kind == Matrix && t.Repr == CSR }

// Sized reports a dense matrix of fixed size in bytes, for which memory is lent and which is sent
// as it is.
func (t Type) Sized() bool { return t.IsDense() && t.Known() && t.Elem.Size() > 0 }

// With returns t with another element type.
func (t Type) With(e Elem) Type { t.Elem = e; return t }

// Known reports whether both dimensions are known.
func (t Type) Known() bool { return t.Rows >= 0 && t.Cols >= 0 }

// Count returns the number of elements; 1 for a scalar.
func (t Type) Count() int {
	if t.Kind == Matrix {
		return t.Rows * t.Cols
	}
	return 1
}

// Bytes returns the size of a dense matrix or scalar in memory.
func (t Type) Bytes() int { return t.Count() * t.Elem.Size() }

// Parts returns the types of the fields of a tuple. For another type it returns the type itself, as the
// only one.
func (t Type) Parts() []Type {
	if t.Kind != Tuple {
		return []Type{t}
	}
	out := make([]Type, len(t.Ext.Fields))
	for k, f := range t.Ext.Fields {
		out[k] = f.Type
	}
	return out
}

// Equal reports whether two types are the same.
func (t Type) Equal(o Type) bool {
	a, b := t, o
	a.Ext, b.Ext = nil, nil
	if a != b {
		return false
	}
	if t.Ext == nil || o.Ext == nil {
		return t.Ext == o.Ext
	}
	if len(t.Ext.Fields) != len(o.Ext.Fields) || (t.Ext.Token == nil) != (o.Ext.Token == nil) {
		return false
	}
	for i, f := range t.Ext.Fields {
		if g := o.Ext.Fields[i]; f.Name != g.Name || !f.Type.Equal(g.Type) {
			return false
		}
	}
	return t.Ext.Token == nil || t.Ext.Token.Equal(*o.Ext.Token)
}

// String returns the type as programs and printed IR write it.
func (t Type) String() string {
	switch t.Kind {
	case Scalar:
		return t.Elem.String()
	case Matrix:
		s := t.Elem.String() + "[" + dim(t.Rows) + "," + dim(t.Cols) + "]"
		if t.Repr == CSR {
			return "sparse " + s
		}
		return s
	case Effect:
		return "effect"
	case Stream:
		return "chan " + t.Ext.Token.String()
	case Record, Frame, Tuple:
		var b strings.Builder
		open, end := "{", "}"
		if t.Kind == Frame {
			open = "frame {"
		} else if t.Kind == Tuple {
			open, end = "(", ")"
		}
		b.WriteString(open)
		for i, f := range t.Ext.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			if f.Name != "" {
				b.WriteString(f.Name + ": ")
			}
			b.WriteString(f.Type.String())
		}
		return b.String() + end
	}
	return "invalid"
}

func dim(n int) string {
	if n == Unknown {
		return "_"
	}
	return strconv.Itoa(n)
}
