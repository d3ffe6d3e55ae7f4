// Package replay compares recorded loops with the ideal, and replays them in virtual time: under
// other techniques, on other numbers of workers.
//
//	trace.LoopRecord --FromRecords--> []Operator of Loops <--ReadCosts-- a file of costs
//	                                     |          |
//	                                  Account     Simulate, Oracle
//
// An operator is a place in the program. Its loops are its executions in sequence, over which
// techniques may learn. The time of a chunk is spread evenly over its iterations, since nothing
// finer was measured: variation inside chunks is lost, and a recording of few large chunks says
// little about other ways to cut the loop. Record with small chunks (SS, MFSC, AUTO_CHUNK) for
// simulations.
//
// Start at FromRecords. The package does not know plans and programs.
package replay
