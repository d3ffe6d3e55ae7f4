package source

import (
	"fmt"
	"sort"
	"strings"
)

// This file defines Diagnostic, the only form in which Flow tells a user that a program, its
// parameters or its data are wrong.

// Severity is the kind of a diagnostic.
type Severity uint8

const (
	Error Severity = iota // the program, a parameter or the data is wrong
	// the program is valid, Flow cannot run it yet; Help has the workaround
	Limit
	Warning // the program runs; something in it is probably unintended
)

// String returns the first word of a rendered diagnostic.
func (s Severity) String() string {
	switch s {
	case Limit:
		return "limit"
	case Warning:
		return "warning"
	}
	return "error"
}

// Note adds a second place (Span is valid, Text labels its underline) or only a sentence.
type Note struct {
	Span Span
	Text string
}

// Diagnostic is one finding. Message says in one line what is wrong, without the place. Label is
// the text at the caret. Help says what to write instead.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Span     Span // invalid: not about a text, e.g. a command-line flag
	Message  string
	Label    string
	Notes    []Note
	Help     string
}

// Error returns the diagnostic in one line, without its place.
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s[%s]: %s", d.Severity, d.Code, d.Message)
}

// Errorf returns a Diagnostic with the severity of its code.
func Errorf(code Code, at Span, format string, args ...any) Diagnostic {
	return Diagnostic{Code: code, Severity: code.Severity(), Span: at, Message: fmt.Sprintf(format, args...)}
}

// WithLabel returns d with a label at its caret.
func (d Diagnostic) WithLabel(format string, args ...any) Diagnostic {
	d.Label = fmt.Sprintf(format, args...)
	return d
}

// WithNote returns d with one more note. An invalid span makes it a sentence.
func (d Diagnostic) WithNote(at Span, format string, args ...any) Diagnostic {
	d.Notes = append(d.Notes[:len(d.Notes):len(d.Notes)], Note{at, fmt.Sprintf(format, args...)})
	return d
}

// WithHelp returns d with a help line.
func (d Diagnostic) WithHelp(format string, args ...any) Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// Diagnostics are the findings of a phase. Return them as an error through Err: a nil Diagnostics
// in an error interface is not nil.
type Diagnostics []Diagnostic

// Sort returns ds by position, those without a place last, without duplicates (same code, place and
// message).
func (ds Diagnostics) Sort() Diagnostics {
	out := append(Diagnostics(nil), ds...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i].Span, out[j].Span
		if a.IsValid() != b.IsValid() {
			return a.IsValid()
		}
		if a.From != b.From {
			return a.From < b.From
		}
		return a.To < b.To
	})
	kept := out[:0]
	for i, d := range out {
		if i > 0 {
			if p := kept[len(kept)-1]; p.Code == d.Code && p.Span == d.Span && p.Message == d.Message {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// HasErrors reports whether ds has an error or a limit, which stop the program from running.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity != Warning {
			return true
		}
	}
	return false
}

// Err returns ds as an error, or nil if it has only warnings.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return ds
}

// Error lists the findings, one a line, without places, which need the FileSet (see Render).
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}
