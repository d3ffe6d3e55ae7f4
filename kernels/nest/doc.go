// Package nest writes bodies as loops: what an op.Body computes at every point of an index space
// becomes a loop.Nest, or a plan of several.
//
//	builder.go      what a register of a body is in a loop; plans.go: what is planned for a body
//	body.go         the body of a parfor; step.go: one elementwise operator, and asserts; control.go:
//	                loops and branches in it
//	matrix.go       matrices of a body; reduction.go: their reductions; ragged.go: of a length that
//	                the run tells; carry.go: where they lie, and what rounds carry; space.go: as
//	                loops over their elements
//	phase_plan.go   bodies that give rows, by phases between reductions; phase.go: their nests
//	stage.go        bodies over matrices that fit in a cache, by stages; stage_cost.go: their costs;
//	                stage_run.go: their runs; place.go: which part of a matrix a round writes in place
//	                numbers.go: numbers between them, as one stage
//	batch.go        many rounds of a loop over a few numbers as one nest, or of each row on its own;
//	                batch_run.go: its runs
//	calls.go        bodies in which operators are called between nests; counter.go: counters of rounds as
//	                linear forms
//	memo.go         what is computed once and kept, and loops by their text; memo_values.go: its values
//	interpreter.go  a body, one operator at a time, where there is no nest; rounds.go: loops in it
//
// The package runs no nest: package kernels gives them operands, threads and blocks.
package nest
