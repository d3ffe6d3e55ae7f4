package dist

import (
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
	"flow/memory"
	"flow/runtime/local"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file defines what a run is asked to do, and what it reports.

// Options says how a plan is run. The zero value is the common case.
type Options struct {
	// Env is the environment of the tasks that this rank owns.
	Env op.Env
	// Read is as in local.EngineOptions.
	Read *atomic.Int64
	// Fingerprint is compared between ranks before anything runs: the program's version, the
	// operator table, parameters, headers of inputs, with the same names in the same order on
	// every rank. The plan's hash is always compared.
	Fingerprint []Item
	// Budget bounds the bytes of values received for later, or of receives posted for small
	// values; 0 means 256 MiB. What the next task needs is received even beyond it.
	Budget int64
	// MaxPosted bounds the number of posted receives, since every poll checks each; 0 means
	// 256.
	MaxPosted int

	// As in local.EngineOptions.
	Buffers    *local.BufferPool
	Stats      bool
	Trace      *trace.Recorder
	OnProgress func(local.Progress)
	Observe    func(id ir.ID, v value.Value)
	HelpFrom   time.Duration
	Grace      time.Duration
	Schedule   schedule.Plan
	Memory     memory.Limit

	// Notice, if not nil, is called by rank 0, and by rank 1 about rank 0, when a rank has been
	// silent for long, or is heard again.
	Notice func(text string)

	// Pool has the workers of a rank of RunGroup, which does not close it. nil: the rank makes a pool and
	// closes it at the end of the run. Two ranks must not have the same pool.
	Pool *local.Pool

	// Agree makes the ranks of one process compare all that they gather, round by round: they must
	// have the same bytes. RunGroup reports a difference after the run, as a bug.
	Agree bool

	watch *standstill // of a group in one process; nil: nobody watches
	agree *agreement  // likewise, with Agree

	// patience, beats, looks and placed replace goodbye, beatEvery, lookEvery and placedFrom in
	// tests.
	patience, beats, looks time.Duration
	placed                 int
}

// Item is something that must be equal on every rank.
type Item struct {
	Name string // as messages say it: "the operator table", "param n"
	Hash [32]byte
	Text string // its value as text, or ""
}

const (
	defaultBudget    = 256 << 20
	defaultMaxPosted = 256
	// beatEvery is the period of heartbeats, which carry a rank's activity for the message
	// about its death.
	beatEvery = time.Second
	// lookEvery is the period of checking the other processes of this machine.
	lookEvery = 500 * time.Millisecond
	// goodbye is how long the ranks may take to end together after an interruption; then each
	// ends alone.
	goodbye = 1500 * time.Millisecond
	// pollEvery is the least time between two polls by workers that have tasks, while polls find
	// something, and pollSeldom the most that it grows to.
	pollEvery  = 20 * time.Microsecond
	pollSeldom = 160 * time.Microsecond
	// pollAnyway is the same where this rank waits for nothing: another may ask for rows of a loop
	// that is over here, and waits for the answer.
	pollAnyway = 500 * time.Microsecond
	// sayFirst is how much later the others return from a run after which the job is aborted:
	// the speaker must have spoken before the launcher kills it.
	sayFirst = 300 * time.Millisecond
	// traceFirst is the additional delay if a trace is to be written: for rank 0's tasks to
	// end, and for the file.
	traceFirst = 1500 * time.Millisecond
	// haltFor is how long rank 0 waits for its running tasks when a rank has died. Its trace is
	// lost if they take longer.
	haltFor = 700 * time.Millisecond
	// beatPeers bounds how many ranks get a heartbeat.
	beatPeers = 32
)

// Report is what a run did, of all ranks on rank 0 and of this one elsewhere. A rank without a
// report is omitted.
type Report struct {
	Ranks      []RankReport
	Recordings []*trace.Recording // of the ranks that traced
}

// RankReport is what one rank did.
type RankReport struct {
	*local.Report
	MessagesSent, MessagesReceived int64
	BytesSent, BytesReceived       int64
	ReadSent                       int64 // of BytesSent, what was read of files and sent as it was read
	Forwarded                      int64 // messages that were passed on to others
	// Processor is the seconds of processor time in this run: of all threads of the rank's process, or of
	// its workers alone if other ranks run in the same process. It is 0 if nothing measures it.
	Processor float64
	Polls     int64
}

// placedFrom is the size in bytes from which a matrix gets its memory on arrival. Posted long
// before, it would be in untouched pages, whose first touch costs as much as the copy or ten times
// that; on arrival there is memory of an earlier one. Below this size it would only add work.
const placedFrom = 16 << 10
