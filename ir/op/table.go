package op

import (
	"fmt"
	"sort"
	"sync"
)

// Table is the operator table. It is immutable once made.
type Table struct {
	rows  []*Def
	names map[string]*Def
	words map[string][]*Def
	infix map[string]*Def
	forms map[string]*Def // by Def.For
	memo  *Memo
}

// Memo keeps what is derived from the rows of a table. Tables may share one if they differ only in rows
// of the same names and claims that nothing derived refers to.
type Memo struct{ made sync.Map }

// Memo returns what f returned at the first call with a key. It lives as long as a table that shares
// the memo. Keys have types of their packages' own. f may run twice when two goroutines call at once.
func (t *Table) Memo(key any, f func() any) any {
	v, ok := t.memo.made.Load(key)
	if !ok {
		v, _ = t.memo.made.LoadOrStore(key, f())
	}
	return v
}

// NewTable makes a table of families of rows. It refuses two rows of one name or sign.
func NewTable(families ...[]*Def) (*Table, error) { return new(Memo).NewTable(families...) }

// NewTable is NewTable of a table that keeps in m what is derived from it.
func (m *Memo) NewTable(families ...[]*Def) (*Table, error) {
	t := &Table{memo: m, names: map[string]*Def{}, words: map[string][]*Def{}, infix: map[string]*Def{}, forms: map[string]*Def{}}
	for _, rows := range families {
		for _, d := range rows {
			if t.names[d.Name] != nil {
				return nil, fmt.Errorf("two rows are named %q", d.Name)
			}
			if d.Infix != "" {
				if t.infix[d.Infix] != nil {
					return nil, fmt.Errorf("two rows mean %q", d.Infix)
				}
				t.infix[d.Infix] = d
			}
			if d.For != "" {
				if t.forms[d.For] != nil {
					return nil, fmt.Errorf("two rows take %q of sparse matrices", d.For)
				}
				t.forms[d.For] = d
			}
			t.rows = append(t.rows, d)
			t.names[d.Name] = d
			if !d.Hidden {
				t.words[d.Source()] = append(t.words[d.Source()], d)
			}
		}
	}
	return t, nil
}

// Rows returns every row, in table order. The caller must not change it.
func (t *Table) Rows() []*Def { return t.rows }

// Named returns the row of that IR name, or nil.
func (t *Table) Named(name string) *Def { return t.names[name] }

// Sparse returns the row that takes calls of d with sparse arguments, or nil: then d itself accepts
// or refuses them.
func (t *Table) Sparse(d *Def) *Def { return t.forms[d.Name] }

// Must returns the row of that IR name. It panics if there is none.
func (t *Table) Must(name string) *Def {
	if d := t.names[name]; d != nil {
		return d
	}
	panic("BUG: the operator table has no row " + name)
}

// Word returns the rows that a program means by word.
func (t *Table) Word(word string) []*Def { return t.words[word] }

// Infix returns the row of an operator sign, or nil.
func (t *Table) Infix(sign string) *Def { return t.infix[sign] }

// Words returns every word of the table, sorted, for completion and did-you-mean.
func (t *Table) Words() []string {
	out := make([]string, 0, len(t.words))
	for w := range t.words {
		out = append(out, w)
	}
	sort.Strings(out)
	return out
}

// Arity returns the least and greatest number of positional arguments. most is -1 for any number.
func (d *Def) Arity() (least, most int) {
	for _, a := range d.Args {
		if a.Rest {
			return least + 1, -1
		}
		if !a.Optional && a.Default == nil {
			least++
		}
		most++
	}
	return least, most
}
