package vec

// This file defines what error-free cascades return.

import "math"

// Terms is room for the terms of a cascade and its vector of lost errors.
type Terms [72]float64

// exact reports that the w lost errors after n terms are all zero; a NaN anywhere in a cascade ends
// up there.
func (t *Terms) exact(n, w int) bool {
	var bad uint64
	for _, v := range t[n : n+w] {
		bad |= math.Float64bits(v) << 1
	}
	return bad == 0
}
