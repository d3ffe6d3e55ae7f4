package vec

// This file defines counts of what is not zero for every place of a row, and the search for an element.

// Tally adds 1 to the counts of the elements that are not 0.
func Tally[C int32 | int64, S Element](count []C, x []S) {
	x = x[:len(count)]
	for i, v := range x {
		count[i] += C(bit(v != 0))
	}
}

// Index is where v stands first in x; -1 if nothing equals it.
func Index[S Element](x []S, v S) int {
	for i, u := range x {
		if u == v {
			return i
		}
	}
	return -1
}
