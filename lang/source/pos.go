package source

// Pos is a byte offset into the texts of one compilation, counted over all files in sequence
// (FileSet gives every file a base). Zero means no position. One int32 keeps IR nodes small; line
// and column are computed only for printing.
type Pos int32

// Span is the half-open range of text [From, To).
type Span struct{ From, To Pos }

// IsValid reports whether s points at text.
func (s Span) IsValid() bool { return s.From > 0 }

// Join returns the smallest span that covers both. An invalid span adds nothing.
func (s Span) Join(o Span) Span {
	switch {
	case !s.IsValid():
		return o
	case !o.IsValid():
		return s
	}
	return Span{min(s.From, o.From), max(s.To, o.To)}
}
