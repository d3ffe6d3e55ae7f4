package ir

import (
	"math"
	"slices"
	"strconv"
)

// This file stores loop contexts and destinations: a few integers for each task of a tiled program.

// contexts stores lists of integers, named by their place; 0 names none. A list never changes.
// Lists are in chunks that never move, so a million lists cost no copies and no spare room.
type contexts struct{ chunks [][]int32 }

const (
	chunkBits = 16
	chunkSize = 1 << chunkBits // integers; far more than any list has
)

// add stores the list first, at and returns its name.
func (c *contexts) add(first []int32, at []int) uint32 {
	n := len(first) + len(at)
	k := len(c.chunks) - 1
	switch {
	case k < 0:
		// entry 0 is none; most graphs are small, so this chunk grows
		c.chunks, k = append(c.chunks, make([]int32, 1, 1+n)), 0
	case len(c.chunks[k])+n > chunkSize:
		c.chunks = append(c.chunks, make([]int32, 0, chunkSize))
		k++
	}
	l := c.chunks[k]
	name := uint32(k)<<chunkBits | uint32(len(l))
	l = append(l, first...)
	for _, v := range at {
		l = append(l, int32(v))
	}
	c.chunks[k] = l
	return name
}

// from returns a list and the rest of its chunk.
func (c *contexts) from(name uint32) []int32 { return c.chunks[name>>chunkBits][name&(chunkSize-1):] }

// drop removes the list added last.
func (c *contexts) drop(name uint32) {
	k := name >> chunkBits
	c.chunks[k] = c.chunks[k][:name&(chunkSize-1)]
}

// texts holds the loop index values that are no small integers, such as list elements, as a program
// would write them. All graphs of a program share one table. It does not change once the program is
// elaborated.
type texts struct {
	list []string
	at   map[string]int
}

// firstText represents the first text in a loop context; firstText - k represents text k.
const firstText = -1 << 30

// SmallIndex reports whether a loop context holds an integer directly. Every other index value is a
// text (TextIndex).
func SmallIndex(v int64) bool { return v > firstText && v <= math.MaxInt32 }

// TextIndex returns what represents an index with the value text in a loop context.
func (g *Graph) TextIndex(text string) int {
	if g.texts == nil {
		g.texts = &texts{at: map[string]int{}}
	}
	k, ok := g.texts.at[text]
	if !ok {
		k = len(g.texts.list)
		g.texts.list = append(g.texts.list, text)
		g.texts.at[text] = k
	}
	return firstText - k
}

// IndexText returns the value of a loop index as a program would write it.
func (g *Graph) IndexText(at int) string {
	if k := firstText - at; k >= 0 && g.texts != nil && k < len(g.texts.list) {
		return g.texts.list[k]
	}
	return strconv.Itoa(at)
}

// ShareTexts gives g, which has no text yet, the texts of another graph of the program, so that an
// index means the same in both.
func (g *Graph) ShareTexts(with *Graph) {
	if with.texts == nil {
		with.texts = &texts{at: map[string]int{}}
	}
	g.texts = with.texts
}

// shared returns contexts with the same lists. Later additions to either are not in the other.
func (c *contexts) shared() contexts {
	out := contexts{slices.Clone(c.chunks)}
	if k := len(out.chunks) - 1; k >= 0 {
		out.chunks[k] = slices.Clip(out.chunks[k])
	}
	return out
}
