package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file stores the history of the REPL in a file: an entry a line, oldest first.

// history is a readline.History.
type history struct {
	path    string // "": it is not kept
	entries []string
}

// mostHistory is the number of entries kept. The file may hold twice as many before it is
// rewritten.
const mostHistory = 5000

// lineEnd replaces line ends inside an entry in the file. Entries cannot contain it: it is no
// character of the language.
const lineEnd = "\u2028"

// historyFile is beside the cache of measured costs; "" if there is no place for it.
func historyFile() string {
	dir := os.Getenv("FLOW_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "flow")
	}
	return filepath.Join(dir, "history")
}

// openHistory reads the file, which may not exist.
func openHistory(path string) *history {
	h := &history{path: path}
	text, err := os.ReadFile(path)
	if err != nil {
		return h
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" {
			h.entries = append(h.entries, strings.ReplaceAll(line, lineEnd, "\n"))
		}
	}
	if n := len(h.entries); n > mostHistory {
		h.entries = slices.Clone(h.entries[n-mostHistory:])
		if n > 2*mostHistory {
			var b strings.Builder
			for _, e := range h.entries {
				b.WriteString(strings.ReplaceAll(e, "\n", lineEnd) + "\n")
			}
			_ = os.WriteFile(path, []byte(b.String()), 0o600) // next time
		}
	}
	return h
}

// Write adds an entry unless it repeats the last one. Other sessions may write at the same time.
func (h *history) Write(entry string) (int, error) {
	entry = strings.TrimRight(entry, " \t\n")
	if n := len(h.entries); entry == "" || n > 0 && h.entries[n-1] == entry {
		return len(h.entries), nil
	}
	h.entries = append(h.entries, entry)
	if h.path == "" || os.MkdirAll(filepath.Dir(h.path), 0o777) != nil {
		return len(h.entries), nil
	}
	if f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
		// a history that cannot be stored is no reason to stop
		_, _ = f.WriteString(strings.ReplaceAll(entry, "\n", lineEnd) + "\n")
		_ = f.Close()
	}
	return len(h.entries), nil
}

// GetLine returns an entry, from 0.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.entries) {
		return "", errors.New("no such entry")
	}
	return h.entries[i], nil
}

// Len returns the number of entries.
func (h *history) Len() int { return len(h.entries) }

// Dump returns all entries.
func (h *history) Dump() any { return h.entries }
