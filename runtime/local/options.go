package local

import (
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file defines what callers and transports tell an engine, and what it tells them.

// EngineOptions says how a plan is executed. The zero value runs rank 0 of a plan without an
// environment.
type EngineOptions struct {
	Env op.Env
	// Read counts the bytes that tasks read of files, for the report, after those that it holds at the
	// beginning. nil: they are not counted.
	Read *atomic.Int64
	// Buffers lends the memory of results; nil: a pool of the engine's own, which ends with it.
	Buffers *BufferPool
	// Memory bounds that pool of the engine's own; zero: what the system gives.
	Memory memory.Limit
	// Stats asks for busy times and flops, at two clock reads a task. Counts are always
	// available.
	Stats bool
	// Trace records every task; nil is off. It needs a track a worker.
	Trace *trace.Recorder
	// Rank is the rank whose tasks are run.
	Rank int
	// OnProgress is called from one goroutine, a few times a second and once at the end.
	OnProgress func(Progress)
	// Observe gets each result as its task ends, in the task's worker, before it is read. It
	// must not keep the value, whose memory is lent again.
	Observe func(id ir.ID, v value.Value)
	// Grace is how long after a failure the tasks before it may still run, so that the first
	// failure in program order is reported; 0 means DefaultGrace. After it the remaining ones
	// are skipped, and the failure is TaskFailure.Unsettled if one of them may have failed.
	Grace time.Duration
	// HelpFrom is how long a rank's own rows of a loop must have taken for it to ask in any case
	// whether it can help other ranks with theirs; 0 means DefaultHelpFrom. Where they took less it
	// asks as long as others have something to do. A rank gives rows away that took it as long for
	// each half MiB of them.
	HelpFrom time.Duration
	// Schedule says how the loops of tasks are handed out in chunks. Its Groups are those of
	// the pool.
	Schedule schedule.Plan
	// Remote connects the engine to other ranks; nil for a plan of one rank.
	Remote *Remote
}

// Remote is what an engine needs from the transport. All functions must be set. Several workers may
// call them at once, and they must not block.
type Remote struct {
	// Sends returns how many messages will carry value id, made or received by this rank. Each
	// holds the value until Engine.Release.
	Sends func(id ir.ID) int
	// Produced is called when a value with Sends above zero exists.
	Produced func(id ir.ID, v value.Value)
	// Freed is called when a received value has had its last reader.
	Freed func(id ir.ID)
	// Between is called after each task, with the time of Engine.Now.
	Between func(now int64)
	// Idle is Options.Idle of the executor.
	Idle func(waited time.Duration, alone bool) bool
	// Failed is called when a task of this rank failed and no earlier one is known to have
	// failed.
	Failed func(*TaskFailure)
	// Gather brings the rows of d that other ranks have made, and sends them those of this rank
	// (plan.Window). key is the number of the gather in the plan. finished is called once, when d
	// is neither written nor read any more.
	Gather func(key int, d *value.Dense, finished func())
	// GatherSparse sends give[r] to each other rank r, and brings what the others have for this one:
	// entries of this rank's rows, or each of the rows of the rank that sends them (plan.Gathered).
	// finished gets a part from each rank; this rank's is its own of give.
	GatherSparse func(key int, give []*value.CSR, finished func(parts []*value.CSR))
	// Fetch sends x.Give[r] to each other rank r and receives x.Take[r]. It sends no message if both
	// are empty. finished is called once, when nothing reads or writes x any more.
	Fetch func(key int, x *Parts, finished func())
	// Ask asks another rank for iterations of a loop, and Give answers such a request. Return sends
	// a copy of the rows that given iterations have made, and the seconds that they took, or nil if
	// they were not run. Tell sends how many seconds the rows of this rank, and of some ranks before
	// it, took. They call Engine.Asked, Given, Returned and Told of the other rank. Near reports
	// whether another rank is on the same machine; nil: all are. Wait drives transfers for a worker
	// that has waited this long inside a task, and sleeps if nothing happens.
	Ask    func(to int, a Ask)
	Give   func(a Ask, g Gift)
	Return func(to int, a Ask, chunk Chunk, made []byte, seconds float64)
	Tell   func(to int, a Ask, totals []float64)
	Near   func(rank int) bool
	Wait   func(waited time.Duration)
	// Cleared is called when all tasks of this rank have succeeded that node shown, of rank to,
	// waits for without reading them. Engine.Clear informs that rank.
	Cleared func(shown ir.ID, to int)
}

// Parts has, by rank, the bytes that one rank sends (Give) and receives (Take). Sender and receiver
// agree on the lengths, except for parts that the sender marks in GiveSome and the receiver in
// TakeSome. Such a message has at least one byte and at most as many as Take. Got is its length.
type Parts struct {
	Give, Take         [][]byte
	GiveSome, TakeSome []bool
	Got                []int
}

// newParts returns empty Parts for so many ranks.
func newParts(ranks int) Parts {
	return Parts{make([][]byte, ranks), make([][]byte, ranks), make([]bool, ranks), make([]bool, ranks), make([]int, ranks)}
}

// DefaultGrace is the default of EngineOptions.Grace.
const DefaultGrace = 10 * time.Second

// Chunk is iterations Lo..Hi-1 of a loop; it is empty if they are equal.
type Chunk struct{ Lo, Hi int }

func (c Chunk) size() int { return c.Hi - c.Lo }

// Ask is a rank's request for iterations of a loop that all ranks run.
type Ask struct {
	Rank      int
	Loop      int32 // number of the loop in the plan (plan.Helped)
	Execution int32 // of the loop, from 1 on: the same on all ranks
}

// Lent is iterations that another rank runs for Home, which keeps their rows.
type Lent struct {
	Home int
	Chunk
}

// Gift is the answer to an Ask: iterations, or none.
type Gift struct {
	Lent []Lent
	Rows []byte // rows of the inputs that op.CarryAttr lists, in the order of Lent
	// Hints say how much work the rank that answers has left, and the rank that has most left as far as
	// it knows. Left holds when the message is sent. At is not used.
	Hints [2]schedule.Hint
	// Moved: no rank has asked for it. It comes at the start of an execution.
	Moved bool
	// Later: the rank may give some later. It has not begun the execution, or cannot know yet whether
	// its rows are worth their messages.
	Later bool
	// Begun is how many executions of the loop the rank has begun.
	Begun int32
}

// Progress is how far this rank's part of a run is.
type Progress struct {
	// Done and Total count tasks. A loop or branch is one.
	Done, Total int
	// Node is the plan's node that the other fields describe; ir.None if nothing runs.
	Node ir.ID
	// Rounds of the outermost running iterate have ended, of Times; -1: its condition decides,
	// -2: none runs.
	Rounds, Times int64
	// Iterations of the running parallel loop have ended, of Of; 0 of 0 without one.
	Iterations, Of int64
}

// TaskFailure says which task of a plan failed, and where. Err is an *op.Failure if the user is to
// blame, and a *PanicError or another error if Flow is.
type TaskFailure struct {
	Node ir.ID
	Rank int
	Err  error
	// Within leads from Node, a loop or branch, to the failing node in its regions.
	Within []ir.Step
	// Depth is the number of steps of Within that lead to the failing task. The others are in its
	// body. Their rounds are those of one point, so they do not order failures.
	Depth int
	// Act is the failing operator of a loop over rows whose body runs operator after operator (a node
	// of its body). It orders failures of the ranks that share the rows.
	Act ir.ID
	// Unsettled: earlier tasks that may fail were skipped, so this may not be the first
	// failure.
	Unsettled bool

	place int64 // 1 + the engine's place of it in program order; 0: that of Node
	order int64 // place, counted from the first one of Node
}

// Report says what one rank did in one run. It holds no pointer into the plan, so that it can be
// sent.
type Report struct {
	Rank    int
	Workers int
	Tasks   int // completed, counting every round of a loop
	Rounds  int // of all loops
	Edges   int // between tasks of this rank
	Seconds float64
	Busy    float64 // seconds in kernels, over all workers; 0 without a clock
	Flops   float64 // by Def.Cost; 0 unless EngineOptions.Stats
	Kernels []KernelReport
	Calls   []CallReport
	Loops   []trace.LoopRecord // with EngineOptions.Stats or Trace, in the order of their ends

	Helped int64 // chunks of other ranks that this one has run
	Moved  int64 // iterations that this rank gave others before the first chunk of a loop

	BytesRead   int64 // of files, also before the run
	BytesLent   int64 // memory lent for results, sum over all
	BytesReused int64 // results that reused the memory of an input
	BytesPeak   int64 // most memory held at once: buffers of the pool, and sparse matrices
}

// KernelReport sums up the tasks of one operator. Reports are sorted by busy time, then name.
type KernelReport struct {
	Name  string
	Tasks int64
	Busy  float64 // seconds
	Flops float64
}

// CallReport sums up the tasks of one function call, inner calls included.
type CallReport struct {
	Call  int32 // index into ir.Graph.Calls
	Name  string
	Span  source.Span
	Tasks int64
	First float64 // seconds from the start of the run to the start of its first task here
	Last  float64 // ... to the end of its last one; Last - First is its wall time
	Busy  float64
	Flops float64
}

// DefaultHelpFrom is the default of EngineOptions.HelpFrom. An answer takes up to the time of
// a part of a chunk.
const DefaultHelpFrom = time.Millisecond
