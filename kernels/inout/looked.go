package inout

// This file remembers which files a program has had looked at, for ranks, which compare theirs.

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
)

// lookedAt is the files that type rules have looked at, by the names that the program uses. Safe
// for concurrent use.
type lookedAt struct {
	mu    sync.Mutex
	files map[string]string
}

// note remembers a file and its type, of the whole; err is why it has none. It returns both, for
// type rules to pass on.
func (l *lookedAt) note(path string, t types.Type, err error) (types.Type, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]string{}
	}
	switch {
	case err != nil:
		l.files[path] += ""
	case l.files[path] == "":
		l.files[path] = t.String()
	case !slices.Contains(strings.Split(l.files[path], " and "), t.String()): // read in two ways
		l.files[path] += " and " + t.String()
	}
	return t, err
}

func (l *lookedAt) list() (all []op.Looked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		all = append(all, op.Looked{Path: path, Type: l.files[path]})
	}
	return all
}

// pathRead is op.Def.Reads of rows whose attribute path names a file.
func pathRead(a *op.Attrs) string { return a.Str("path") }
