package lower

// This file defines what a session keeps between entries.

import (
	"flow/ir"
	"flow/lang/source"
)

// Session is the names that entries have bound. Between entries the ID of an edge in it is a slot.
type Session struct {
	Files *source.FileSet // the texts of all entries: functions are elaborated when called
	top   *scope
	std   *library
	next  int // the slot that is given next
	// key describes how the value of a slot was computed; at maps keys to slots, so that
	// nothing is computed twice.
	key map[int]string
	at  map[string]int
	// recent lists the slots of recently shown values, which are kept although unnamed.
	recent []int
	params []Param
	texts  map[string]string // the statements that declare params, by name
}

// NewSession returns a session without names.
func NewSession() *Session {
	return &Session{Files: source.NewFileSet(), top: &scope{session: true}, key: map[int]string{}, at: map[string]int{}, texts: map[string]string{}}
}

// Entry is an elaborated entry. The session has its names only after Commit; Abort restores the
// session. One of the two must be called before the next entry.
type Entry struct {
	Output
	Last ir.ID // the value shown last; ir.None if none was
	s    *Session
	before
	slots map[ir.ID]int
	keys  []string
	typ   string // of what is shown last
	texts map[string]string
}

// before is the state of a session before an entry, scope by scope.
type before struct {
	scopes map[*scope]scope
	grids  map[*grid]grid
}
