package vec

// This file defines the search for an element.

// Index is where v stands first in x; -1 if nothing equals it.
func Index[S Element](x []S, v S) int {
	for i, u := range x {
		if u == v {
			return i
		}
	}
	return -1
}
