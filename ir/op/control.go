package op

// Control marks a row that is no operator: engines, the reference evaluator and passes define its
// meaning.
type Control uint8

// The control rows.
const (
	// NoControl is an operator.
	NoControl Control = iota
	// Iterate runs its region round by round. Its inputs are the carried values (attribute
	// `carry` counts them), then what the region captures. Its result is the tuple of the final
	// values. The attribute `times` is the number of rounds, or a second region decides before
	// each round whether to stop.
	Iterate
	// Select runs one of its two regions. The first input, a bool, chooses; the others are
	// captured. Its result is the tuple of the yields.
	Select
	// Part selects part `at` of the tuple of an Iterate or Select.
	Part
)

// Role is what a row does in a graph beside its computation. Passes and engines test it instead of
// names.
type Role uint8

// The roles.
const (
	// NoRole is a row described by its laws alone.
	NoRole Role = iota
	// Argument is an argument of a region. It is no task.
	Argument
	// Constant is a number or text, its attribute `value`.
	Constant
	// Exchange sends a value to the ranks in its attribute `to`.
	Exchange
	// Gathers makes a matrix whose rows the ranks share whole on every rank. Its attribute `key`
	// numbers it among those of its plan.
	Gathers
	// Points evaluates its region for every point of an index space.
	Points
	// Pairs lists the points of an index space whose second range depends on the first index.
	Pairs
	// Grouped runs its region once, on whole matrices: operators that are one loop over the
	// elements of its yield.
	Grouped
	// Rounds runs its region once. The region is a loop, and all its rounds are one task. The attribute
	// `before` is the number of rounds of the loop that ran before, as another task.
	Rounds
	// Maps runs the chain in its region on every element.
	Maps
	// Reduces reduces what the chain in its region makes, by the rows in its attribute `fold`.
	Reduces
	// Slices takes the rectangle in its attribute `at` of its input.
	Slices
	// Lays puts rectangles of its inputs where its attribute `boxes` says.
	Lays
	// Beside puts its inputs side by side, Below one below the other.
	Beside
	Below
	// Picks takes the element of its input that its other inputs say, PicksAt the one in its
	// attribute `at`.
	Picks
	PicksAt
	// Windows takes the rectangle of the size in its attribute `size` from the row and column that
	// its other inputs say.
	Windows
	// Codes makes a row of each element: a one in the column that the element names, and zeros.
	Codes
	// Stores copies its input: nothing is fused across it.
	Stores
	// Relocates makes a sparse matrix from entries of its sparse inputs, at other places: a transpose,
	// a part, or matrices one below the other.
	Relocates
	// Multiplies is the matrix product of two inputs, MultipliesOnto adds it to another one.
	Multiplies
	MultipliesOnto
)
