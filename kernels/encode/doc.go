// Package encode defines the rows of codes: numbers 0, 1, .. that say to which interval, value or
// group an element belongs. bin and recode make them of data; onehot is their matrix; ctable counts
// pairs of them, or adds weights. Sums and counts by code do not build the matrix, and loops that make
// codes and rows take them in (states.go).
package encode
