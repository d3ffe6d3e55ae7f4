package lang

import (
	"slices"
	"sync"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file caches the trees of the texts that were parsed last. A program that is compiled for
// several numbers of ranks, or with several settings, is parsed once. It would be wrong if a caller
// changed a tree.

// The cache has at most remembered trees, of texts of at most mostRemembered bytes.
const (
	remembered     = 8
	mostRemembered = 64 << 10
)

// memo is a list of trees, the most recently used first.
type memo struct {
	mu   sync.Mutex
	list []parsedText
}

// parsedText is a text and what parsing it returned. Positions in the tree depend on base, and
// the tree has the name of its file.
type parsedText struct {
	base       source.Pos
	name, text string
	tree       *ast.File
	ds         source.Diagnostics
}

var trees memo

// of returns the tree of a file, which parse makes if it is not remembered. Diagnostics are copied,
// because a caller may append to them or sort them.
func (m *memo) of(f *source.File, parse func() (*ast.File, source.Diagnostics)) (*ast.File, source.Diagnostics) {
	if len(f.Text) > mostRemembered {
		return parse()
	}
	m.mu.Lock()
	k := slices.IndexFunc(m.list, func(p parsedText) bool { return p.base == f.Base && p.name == f.Name && p.text == f.Text })
	if k >= 0 {
		p := m.list[k]
		copy(m.list[1:k+1], m.list[:k])
		m.list[0] = p
		m.mu.Unlock()
		return p.tree, slices.Clone(p.ds)
	}
	m.mu.Unlock()
	tree, ds := parse()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = slices.Insert(m.list, 0, parsedText{f.Base, f.Name, f.Text, tree, ds})
	m.list = m.list[:min(len(m.list), remembered)]
	return tree, slices.Clone(ds)
}
