// Package loop defines the loop form: a value that says, element by element, what a computation
// over an index space means. Fusion makes loops, self-scheduling cuts them, ranks share them and
// targets run them.
//
// A Nest has an index space, operands, results and a body. The body is a list of statements in
// single-assignment form: loads at linear subscripts, scalar operations, checks, inner loops with
// carried values, reductions, and stores.
//
//	nest(%0: f64[], %1: f64[], %2: i64) (i: 0..%0.rows, j: 0..%0.cols) {
//	  v0 = load %0[i, j]
//	  v1 = load %1[j, i]
//	  v2 = add v0, v1
//	  store out0[i, j] v2
//	  reduce out1[i, 0] v2
//	} : (f64[%0.rows, %0.cols], sum f64[%0.rows, 1])
//
// Invariants:
//
//   - Eval defines a nest: point by point in ascending order of the indices, statement by
//     statement. Every target gives the same bytes.
//   - Parse reads what String writes.
//   - Verify accepts a nest before anything else reads it.
//   - The schedule (vector index, unrolling, strips) is not part of a nest.
//
// The package knows neither operators nor kernels. Start at form.go. op.go lists the statements and the
// scalar operations, reduce.go the reductions. build.go builds nests, rewrite.go copies them with
// changes, visit.go visits statements, and eval.go is the definition. library.go holds exp, log, sin
// and the like. For targets, state.go carries reductions in a few words, unroll.go unrolls short loops,
// and handed.go hands values that a round has computed on to later rounds.
package loop
