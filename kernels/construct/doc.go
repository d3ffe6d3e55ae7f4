// Package construct has the rows that make matrices from numbers: zeros, rand, seq, sample. Every
// block of such a matrix is made from its place alone.
package construct
