package source

// Pos is a byte offset into the text of one compilation, counted over all its
// files laid end to end (FileSet gives every file a base). Zero is "no
// position". One int32 keeps a node of the IR small; line and column are
// computed only when something is printed.
type Pos int32

// Span is the half-open range of text [From, To) that something came from.
type Span struct{ From, To Pos }

// IsValid reports whether s points at text.
func (s Span) IsValid() bool { return s.From > 0 }

// Join is the smallest span that covers both; an invalid span adds nothing.
func (s Span) Join(o Span) Span {
	switch {
	case !s.IsValid():
		return o
	case !o.IsValid():
		return s
	}
	return Span{min(s.From, o.From), max(s.To, o.To)}
}
