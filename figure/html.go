package figure

import (
	"bytes"
	"html"
	"io"
	"strings"
)

// This file writes a Picture to a file: SVG, PNG, and a page in HTML that needs no other file and
// follows the reader's choice of light or dark.

// PictureFormats are the endings of files that a Picture can be written to.
var PictureFormats = []string{"svg", "png", "html"}

// Write writes the picture in one of PictureFormats. dpi is the dots of a PNG per inch of 96
// pixels; 0 means 120.
func (p *Picture) Write(w io.Writer, format string, size Size, dpi int) error {
	page := p.Draw(size)
	page.dpi = dpi
	if format != "html" {
		return page.Write(w, format)
	}
	var b bytes.Buffer
	if err := page.Write(&b, "svg"); err != nil {
		return err
	}
	title := p.name()
	_, err := io.WriteString(w, htmlHead+html.EscapeString(title)+htmlStyle+Themed(b.Bytes(), title)+htmlEnd)
	return err
}

// name is what the picture is called: its title, or those of its fields.
func (p *Picture) name() string {
	if p.Title != "" {
		return p.Title
	}
	var names []string
	for _, f := range p.Fields {
		if f.Title != "" {
			names = append(names, f.Title)
		}
	}
	if len(names) == 0 {
		return "picture"
	}
	return strings.Join(names, ", ")
}

// Themed is an SVG that Page wrote, as an element of a page of HTML whose style gives --paper,
// --ink, --rule, --mute and --blue: white, black and the greys of the drawing become these, and the
// darkest colour of data --blue. All others are seen on both.
func Themed(svg []byte, title string) string {
	_, text, _ := strings.Cut(string(svg), "<svg")
	for _, c := range []struct{ of, by string }{
		{"#FFFFFF", "var(--paper)"}, {"#000000", "var(--ink)"}, {"#E1E1E1", "var(--rule)"}, {"#EBEBEB", "var(--rule)"}, {"#969696", "var(--mute)"}, {"#464646", "var(--mute)"}, {"#0072B2", "var(--blue)"},
	} {
		text = strings.ReplaceAll(text, c.of, c.by)
	}
	return `<svg role="img" aria-label="` + html.EscapeString(title) + `" class="figure"` + text
}

// The page: the title follows the first part, the drawing the second.
const (
	htmlHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>`
	htmlStyle = `</title>
<style>
` + Theme + `
body { background: var(--paper); color: var(--ink); margin: 1em; }
</style>
</head>
<body>
`
	htmlEnd = `
</body>
</html>
`
)

// Theme is the style that Themed needs.
const Theme = `:root { color-scheme: light dark; --paper: #ffffff; --ink: #000000; --rule: #e1e1e1; --mute: #6e6e6e; --blue: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e6e6e6; --rule: #3a3f46; --mute: #a0a6ad; --blue: #2f8fd0; } }
svg.figure { max-width: 100%; height: auto; } svg.figure text { fill: var(--ink); }`
