package vec

// This file moves tiles: transposition in registers, and copies past the caches.

// Tile is the edge of a tile: five tiles of float64 fit into a first-level cache of 48 KiB.
const Tile = 32

// HaveTiles reports that this CPU has the loops of this file.
var HaveTiles = haveAVX512

// TransposeF64 is Transpose, eight by eight in registers where the CPU can.
func TransposeF64(dst []float64, ld int, src []float64, lds, rows, cols int) {
	r, c := rows&^7, cols&^7
	if !haveAVX512 || r == 0 || c == 0 {
		Transpose(dst, ld, src, lds, rows, cols)
		return
	}
	_, _ = dst[(rows-1)*ld+cols-1], src[(cols-1)*lds+rows-1]
	for j := 0; j < c; j += 8 {
		transposeF64AVX512(&dst[j], 8*ld, &src[j*lds], 8*lds, r/8)
	}
	if r < rows {
		Transpose(dst[r*ld:], ld, src[r:], lds, rows-r, cols)
	}
	if c < cols {
		Transpose(dst[c:], ld, src[c*lds:], lds, r, cols-c)
	}
}

// CopyTile copies a tile between rows ld and lds elements apart.
func CopyTile(dst []float64, ld int, src []float64, lds int) {
	_, _ = dst[(Tile-1)*ld+Tile-1], src[(Tile-1)*lds+Tile-1]
	copyTileAVX512(&dst[0], 8*ld, &src[0], 8*lds, Tile)
}

// StreamTile is CopyTile past the caches, to rows that begin with a cache line; Fence after the last.
func StreamTile(dst []float64, ld int, src []float64, lds int) {
	_, _ = dst[(Tile-1)*ld+Tile-1], src[(Tile-1)*lds+Tile-1]
	streamTileAVX512(&dst[0], 8*ld, &src[0], 8*lds, Tile)
}
