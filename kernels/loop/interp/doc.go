// Package interp interprets loops: it is the target of the loop form for every processor.
//
// Compile turns a nest into steps. A step is one loop over a batch of points, mostly a loop of
// package vec, so that the cost of its dispatch is spread over some hundred points. A point of a
// batch is a lane; a register holds one element for each lane, or one element for all of them if
// the value is uniform.
//
// There are two programs for a nest over two indices. One takes its batches from a single row, so
// that the first index is uniform. The other takes them from many short rows.
//
// Code under a condition, and a loop that ends at different rounds in different lanes, runs in a
// context of its own: the lanes that take part are packed together, and the values they read are
// copied to registers of that context. When lanes leave a loop the others move together, so that a
// step that can fail never sees a lane that has left.
//
// Invariants:
//
//   - The bytes that a window stores are those of loop.Nest.Eval, where all nans are one.
//   - A failed check ends the window and flags it. The caller finds the first failure by the definition.
//   - Products are rounded before they are added, also where the compiler could fuse the two.
//   - A window allocates nothing once buffers have grown.
//
// Start reading with code.go (Compile, Begin) and worker.go (Window); compile.go and lower.go make
// the steps, ops.go lists the loops of scalar operations, packed.go runs loops whose lanes leave at
// different rounds, state.go and the files beside it hold reductions.
package interp
