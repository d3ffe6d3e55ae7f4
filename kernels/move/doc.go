// Package move has the rows that move elements and compute nothing: t, slice, cbind, rbind,
// reshape, subscripts.
package move
