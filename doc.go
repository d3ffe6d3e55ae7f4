// Package flow is the Go API of Flow, a channel-native dataflow language: Compile a program, Run
// it. This file is the tour. It follows one program through every package in the order in which
// data flows; each stop names the file to read first.
//
// # The program
//
//	param n: i64 = 1024
//	A = rand_spd(n, seed = 7)
//	chan L = tiles(A, 256, part = "lower")
//	for k in 0..L.rows {
//	  L[k,k] <- potrf(L[k,k])
//	  for i in k+1..L.rows { L[i,k] <- trsm(L[k,k], L[i,k]) }
//	  for i in k+1..L.rows, j in k+1..=i { L[i,j] <- L[i,j] - L[i,k] @ t(L[j,k]) }
//	}
//	emit sum(untile(L)) as "checksum"
//
// Every name is a channel. `L[i,j] <- e` sends the next token on one element of an array of
// channels, and reading `L[i,j]` means the latest token above in the text.
//
// # 1. Text: lang
//
// lang/source holds the text and turns a position into a caret. lang (parse.go) makes tokens, lets
// line ends become statement ends, and parses them into the tree of lang/ast. Mistakes are
// collected, not thrown: one run reports all of them. Nothing in lang knows what potrf is.
//
// # 2. Operators: ir/op and kernels
//
// potrf is one row (ir/op, Def): its words for the manual, its shape rule, an obviously right
// definition, the laws that it claims, how it is cut into blocks, its cost and its fast kernel.
// kernels and its families (kernels/linalg, kernels/inout ...) hold the rows beside their loops;
// kernels/blas the tile kernels and kernels/vec the loops over vectors, both as machine code where the
// processor has them; kernels/exact the sums that do not depend
// on order. Nothing registers itself: kernels.Table returns the table, which is passed as an
// argument.
//
// # 3. Meaning: compiler to ir
//
// compiler evaluates what is known before the run: params, the headers of input files, shapes, loop
// bounds. It instantiates functions, unrolls `for`, and numbers the versions of each channel, which
// gives a graph (ir, graph.go): node 17 is a potrf, edge 17 is its factor. Stages of the list in
// compiler's pipeline rewrite the graph; after each one the verifier checks it, and `flowrun
// explain --pass=NAME` prints it. The standard library (stdlib) is text in the language and is
// compiled alike. Algebra is a table of rewrite rules in the graph's own text (compiler/rule). A
// loop whose rounds or data only the run knows is one node with a region, a graph in the graph.
//
// At this point the program has its whole meaning: ir/eval runs any graph slowly, one node at a
// time by the definitions in the rows. Every engine below is compared with it, byte for byte.
//
// # 4. Plan: ir/plan
//
// The last passes cut whole matrices into tile tasks, give every task an owner and a priority, and
// put an exchange where a value crosses ranks. A plan is a value with a text form; it is all that
// compiler and runtime have in common.
//
// # 5. Execution: runtime/local and runtime/dist
//
// runtime/local runs a plan on this machine: workers bound to threads, a counter a task, queues by
// priority with stealing, buffers from a pool that are reused in place on their last use. A node
// with an index space is a loop that free workers join; runtime/schedule says how large a chunk the
// next of them takes. runtime/dist runs the plan on many ranks: every rank compiles the same
// program, compares the hash of the plan, runs the tasks it owns, and moves tiles by messages,
// which are numbered by pair of ranks; runtime/dist/transport holds the interface and its backends.
// runtime/trace records events. runtime/replay compares the loops of a trace with the ideal, and
// replays them in virtual time. sweep compares schedules of one program, figure draws the results.
//
// # 6. Command: cmd/flowrun
//
// cmd/flowrun has the flags, and this package the wiring behind them, so a Go program can do what
// the command does. explain says what became of a program: groups, loops, machine code.
//
// # Embedding
//
// A Go program needs Compile, Program.Values and Get: the examples of this package show all of it.
// Types of other packages that appear here (plans, graphs, transports, accounts of schedules) serve
// tools such as cmd/flowrun, and change with the engine.
//
// # What holds everywhere
//
// Output bytes depend on program, params, input bytes and kernel set alone, and not on threads,
// ranks, backend, fusion or disabled passes. Tests compare bytes, never with a tolerance.
// RATIONALE.md answers why. deps_test.go says which package may import which.
package flow
