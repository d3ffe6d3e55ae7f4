package nodes

// Sizes bound blocks and other parts of matrices; 0 is the default. Results depend on them (a long
// product is summed panel by panel), so only tests set them, to get many blocks from small matrices.
type Sizes struct {
	// Block is the approximate number of elements of a block of a matrix that is not square:
	// 512 KiB of f64, half of a core's second-level cache.
	Block int
	// Panel is the longest summed dimension that is one chain. A longer one, as in t(X) @ X of
	// a tall X, would leave nothing to do in parallel, and its rounding error would grow with
	// its length. It is cut into panels whose products a balanced tree adds.
	Panel int
	// Spread is the least work, in operations, that ranks share by rows. All ranks repeat less work,
	// since a message takes some microseconds. If Spread is 1, they share all that they can.
	Spread int
	// Whole leaves matrices that only loops make and read uncut, for plans of one rank. It changes no
	// result.
	Whole bool
	// Loops leaves matrices uncut whose rows are those of the result of a loop over an index space or of
	// an iterate, for plans of several ranks: ranks share the rows of such loops (package layout). An
	// operator that needs all rows, and has no state that ranks merge, is then a node of its own.
	Loops bool
	// Rows, with Whole, also leaves matrices uncut that ranks can share by rows: the left factors of
	// products whose right factors a cache holds, and their results.
	Rows bool
	// Part is the approximate number of bytes of a file that a worker reads at a time. 0 means a MiB, and
	// only where memory is scarce. Tests set it to read files in parts with enough memory.
	Part int
}

// Filled returns s with defaults for zero fields.
func (s Sizes) Filled() Sizes {
	if s.Block == 0 {
		s.Block = 1 << 16
	}
	if s.Panel == 0 {
		s.Panel = 1 << 15
	}
	if s.Spread == 0 {
		s.Spread = 50_000
	}
	if s.Part == 0 {
		s.Part = 1 << 20
	}
	return s
}
