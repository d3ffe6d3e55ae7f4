package ir

import "slices"

// This file stores loop contexts and destinations: a few integers for every task of a tiled program.

// contexts is lists of integers, named by where they begin; 0 names none. A list never changes once it is there. They lie in
// chunks, which are never moved, so that a million lists cost no copies and no room for growth.
type contexts struct{ chunks [][]int32 }

const (
	chunkBits = 16
	chunkSize = 1 << chunkBits // integers; far more than any list has
)

// add stores the list of first and then at, and gives its name.
func (c *contexts) add(first []int32, at []int) uint32 {
	n := len(first) + len(at)
	k := len(c.chunks) - 1
	switch {
	case k < 0:
		c.chunks, k = append(c.chunks, make([]int32, 1, 1+n)), 0 // entry 0 is none; most graphs are small, so this chunk grows
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

// from is the chunk of a list from the list on.
func (c *contexts) from(name uint32) []int32 { return c.chunks[name>>chunkBits][name&(chunkSize-1):] }

// drop takes back the list that add gave last.
func (c *contexts) drop(name uint32) {
	k := name >> chunkBits
	c.chunks[k] = c.chunks[k][:name&(chunkSize-1)]
}

// shared is contexts with the same lists; what either gets later the other does not.
func (c *contexts) shared() contexts {
	out := contexts{slices.Clone(c.chunks)}
	if k := len(out.chunks) - 1; k >= 0 {
		out.chunks[k] = slices.Clip(out.chunks[k])
	}
	return out
}
