package op

// Control says that a row is no operator: engines, the reference evaluator and passes give it its meaning. A program has few of
// them.
type Control uint8

// The rows with a meaning of their own.
const (
	// NoControl is an operator.
	NoControl Control = iota
	// Iterate runs its region round by round: inputs are the carried values (as many as the attribute `carry` says), then what
	// the region captures; the result is the tuple of the final values. The number of rounds is the attribute `times`, or a
	// second region says before each round whether to stop.
	Iterate
	// Select runs one of its two regions; the first input, a bool, says which. Other inputs are what the regions capture; the
	// result is the tuple of what they yield.
	Select
	// Part is one part, attribute `at`, of the tuple that an Iterate or Select gives.
	Part
)

// Role says what a row is in a graph, beside what it computes. Passes and engines ask for it, and for no row's name.
type Role uint8

// The rows that a graph is built of.
const (
	// NoRole is a row that is known by its laws alone.
	NoRole Role = iota
	// Argument is an argument of a region. It is no task.
	Argument
	// Constant is a number or a text, its attribute `value`.
	Constant
	// Exchange takes a value to the ranks that its attribute `to` lists.
	Exchange
	// Points evaluates its region for every point of an index space.
	Points
)
