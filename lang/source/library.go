package source

// This file moves a diagnostic in library text to the user's text.

// ToUser moves a diagnostic in a library file, which users do not have, to the user's call. The
// place of d becomes the innermost note in a file of the user, and the library line becomes a note.
// Other notes in the library are dropped. d is returned unchanged if no note is in a file of the
// user.
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
