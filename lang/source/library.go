package source

// This file points a diagnostic that lies in the text of the library at the user's own text.

// ToUser returns d with the user's call first where d lies in a file of the library, which the user
// has not got: the innermost place of the notes that is in a file of the user becomes the place of
// d, and the line of the library a note. Notes on other lines of the library are dropped. d stays
// as it is if no note is in a file of the user.
func (fs *FileSet) ToUser(d Diagnostic) Diagnostic {
	inLibrary := func(s Span) bool {
		f := fs.File(s.From)
		return f != nil && f.Library
	}
	if !inLibrary(d.Span) {
		return d
	}
	own := -1
	for i, n := range d.Notes {
		if own < 0 && fs.File(n.Span.From) != nil && !inLibrary(n.Span) {
			own = i
		}
	}
	if own < 0 {
		return d
	}
	label := d.Label
	if label == "" {
		label = "here, in the library"
	}
	notes := []Note{{d.Span, label}}
	for i, n := range d.Notes {
		if i != own && !inLibrary(n.Span) {
			notes = append(notes, n)
		}
	}
	d.Span, d.Label, d.Notes = d.Notes[own].Span, d.Notes[own].Text, notes
	return d
}
