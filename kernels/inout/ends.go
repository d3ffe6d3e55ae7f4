package inout

import (
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/elementwise"
	"flow/kernels/format"
)

// This file defines how emit shows a large matrix: its type with its shape, then the first and last
// rows and columns, in columns of equal width.

const (
	// mostShown is how many elements emit prints unless all are asked for.
	mostShown = 1000
	// shownEnd is how many rows and columns are shown at each end.
	shownEnd = 5
	// gap stands for what is left out.
	gap = ".."
)

// endsAlone reports an emit that shows the ends of its value alone.
func endsAlone(c *op.Call) bool {
	if c.Attrs.Bool("all") {
		return false
	}
	switch x := c.In[0].(type) {
	case *value.Dense:
		return x.Rows > 0 && x.Cols > mostShown/x.Rows
	case *value.CSR:
		return x.NNZ() > mostShown
	}
	return false
}

// ends is the indices of n that are shown; -1 is the gap.
func ends(n int) []int {
	var at []int
	if n <= 2*shownEnd+1 {
		for i := range n {
			at = append(at, i)
		}
		return at
	}
	for i := range shownEnd {
		at = append(at, i)
	}
	at = append(at, -1)
	for i := n - shownEnd; i < n; i++ {
		at = append(at, i)
	}
	return at
}

func endsTitle(t types.Type) string { return t.String() + ", its ends (emit all shows everything)\n" }

// ends prints the type of d and its first and last rows and columns.
func (b *textWriter) ends(d *value.Dense) {
	b.text = append(b.text, endsTitle(d.Type())...)
	b.columns(d, ends(d.Rows), ends(d.Cols))
}

// upTo is 0 to n-1.
func upTo(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// columns prints these rows and columns of d, -1 being a gap, each column as wide as its widest
// element.
func (b *textWriter) columns(d *value.Dense, rows, cols []int) {
	words, width := make([]string, 0, len(rows)*len(cols)), make([]int, len(cols))
	for _, i := range rows {
		for k, j := range cols {
			w := gap
			if i >= 0 && j >= 0 {
				w = d.At(i, j).String()
			}
			words, width[k] = append(words, w), max(width[k], len(w))
		}
	}
	for k, w := range words {
		j := k % len(cols)
		if j > 0 {
			b.text = append(b.text, ' ')
		}
		b.text = elementwise.Repeated(b.text, ' ', width[j]-len(w))
		b.text = append(b.text, w...)
		if j == len(cols)-1 {
			b.text = append(b.text, '\n')
		}
	}
}

func sparseEndsTitle(m *value.CSR) string {
	return strings.TrimSuffix(sparseTitle(m), "\n") + "; the first and last of them (emit all shows everything)\n"
}

// sparseEnds prints the first and last stored elements of m.
func (b *textWriter) sparseEnds(m *value.CSR) {
	b.text = append(b.text, sparseEndsTitle(m)...)
	at, i := ends(m.NNZ()), 0
	for _, k := range at {
		if k < 0 {
			b.text = append(b.text, gap+"\n"...)
			continue
		}
		for m.Ptr[i+1]-m.Ptr[0] <= int64(k) {
			i++
		}
		b.text = format.AppendEntry(b.text, m, i, int(m.Ptr[0])+k, 0)
	}
}
