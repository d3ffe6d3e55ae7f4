// Package replay says of recorded loops where their time went and how near to the ideal they came, and runs them again in virtual
// time: under other techniques, on other numbers of workers.
//
//	trace.LoopRecord --FromRecords--> []Operator of Loops <--ReadCosts-- a file of costs
//	                                     |          |
//	                                  Account     Simulate, Oracle
//
// An operator is a place in the program; its loops are its executions, one after another, over which techniques may learn. What a
// chunk took is spread evenly over its iterations, as nothing finer was measured: variation inside of chunks is lost, and a recording of
// few large chunks says little about other ways to cut the loop. Record with small chunks (SS, MFSC, AUTO_CHUNK) what is to be simulated.
//
// Start reading at FromRecords. The package refuses to know plans and programs.
package replay
