package nodes

// Sizes determine the shapes of blocks; 0 is the default. They are part of what a program means (a
// long product is summed panel by panel), so only tests set them, to get many blocks from small
// matrices.
type Sizes struct {
	// Block is the approximate number of elements of a block of a matrix that is not square:
	// 512 KiB of f64, half of a core's second-level cache.
	Block int
	// Panel is the longest summed dimension that is one chain. A longer one, as in t(X) @ X of
	// a tall X, would leave nothing to do in parallel, and its rounding error would grow with
	// its length. It is cut into panels whose products a balanced tree adds.
	Panel int
	// Spread is the least work, in operations, that ranks share by rows. What a rank makes of less
	// is made on all of them, since a message takes some microseconds. If it is 1, they share all that
	// they can, whatever it costs.
	Spread int
	// Whole keeps matrices whole that only loops make and read, for plans of one rank. It
	// changes no result.
	Whole bool
	// Loops keeps those whole that correspond in place to the result of a loop over an index space
	// or of an iterate, for plans of several ranks: ranks share the rows of such loops (package layout).
	// What is of all rows and has no state that ranks merge is then a node of its own.
	Loops bool
	// Rows, with Whole, keeps those whole that ranks can share by rows, if no loop of one rank would
	// do: the left factors of products whose right factors a cache holds, and their results.
	Rows bool
	// Part is about how many bytes of a file a worker reads at a time. 0: a MiB, and only where memory is
	// scarce. Tests set it to get files in parts with enough memory.
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
