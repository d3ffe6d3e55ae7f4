// Package trace records the events of a run, and summarises where the time went.
//
//	Recorder (one a rank) -> Track (one a worker, one for communication) -> slabs of Events
//	      |
//	      v  after the run
//	Recording --bytes--> rank 0 --> WriteChrome (Perfetto), Summarise
//
// A loop that workers share leaves a LoopRecord with the chunks of each worker. The file of
// WriteChrome has these too, and can be read again.
//
// Invariants:
//
//   - A nil *Recorder and a nil *Track are off: every method works and does nothing, at one branch.
//   - A worker's track has one writer and takes no lock. The communication track may have many.
//   - Times are nanoseconds since the recorder began, by the monotonic clock. Only a Recording
//     relates them to other ranks.
//
// Start at Track.Add. The package does not know tasks, plans and transports: events carry numbers,
// and an exporter may pass a function that explains them.
package trace
