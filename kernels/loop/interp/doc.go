// Package interp interprets loops: it is the target of the loop form for every processor.
//
// A statement runs as one loop over a batch of points, mostly a loop of package vec, so that some
// hundred points share the cost of its dispatch. A batch is a part of a row, or several short rows. A
// point of a batch is a lane. A register holds one element for each lane (varying), one element for all
// lanes (uniform), or an index that grows by a step from lane to lane (ramp).
//
// Some code runs on a part of the lanes: a side of an If, and a loop that ends at different rounds in
// different lanes. The registers that it reads are gathered before it, so that the active lanes are
// adjacent, and restored after it. When lanes leave a loop, the others are gathered again. So a
// statement that can fail never sees a lane that has left.
//
// Invariants:
//
//   - The bytes that a window stores are those of loop.Nest.Eval, where all nans are one.
//   - A failed check ends the window and flags it. The caller finds the first failure by the
//     definition.
//   - Products are rounded before they are added, also where the compiler could fuse the two.
//   - A window allocates nothing once buffers have grown.
//
// Start reading with plan.go, which prepares the statements once, and run.go, which runs them;
// worker.go (Window) cuts windows into batches, memory.go loads and stores. Below are program.go and
// state.go with the types, register.go, ops.go with the loops of scalar operations, and slab.go.
// Package kernels/state holds reductions.
package interp
