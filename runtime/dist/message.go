package dist

import "time"

// This file defines what ranks tell each other over Control, apart from values. wire.go encodes it.

// message is any Control message that is no value. One of the pointers is set. Epoch distinguishes
// runs on one Comm.
type message struct {
	Epoch   uint64
	Hello   *hello
	Verdict *verdict
	Failure *failure
	Drain   *drain
	Done    *done
	End     *end
	Word    *word

	beat *beat // goes by itself
}

// hello is a rank's message to rank 0.
type hello struct {
	From    int
	Ranks   int // of its plan
	Build   Item
	Inputs  []Input
	Items   []Item
	Process process
	Refusal string // why the rank has no plan, or ""
}

// verdict is rank 0's answer to all.
type verdict struct {
	Epoch    uint64
	Mismatch string // "" if the run begins
	Files    bool   // it is about a file that ranks read
	Unshared []string
	Peers    []process
	Wall     int64 // rank 0's clock, Unix nanoseconds
}

// process identifies a rank's process.
type process struct {
	Host  string
	Space string // the scope of process numbers; ranks of one scope can check each other
	Pid   int
	Start string // so that a reused number is no sign of life
	CPUs  cpus   // on which it may run; zero: not known
}

// cpus is a set of processors by number.
type cpus [16]uint64

// beat is a heartbeat: a rank's current activity.
type beat struct {
	From     int
	Finished int
	Tasks    int
	Nodes    []int32 // being executed
	heard    time.Time
}

// done reports that a rank has nothing left to do.
type done struct {
	From      int
	State     int
	Failure   *failure
	Unsettled bool // earlier tasks that may fail were skipped
	Report    *RankReport
	Recording []byte
}

// word says that a rank is alive, and may ask the same of the other.
type word struct {
	From int
	Ask  bool
}

// drain reports, after a failure, what was started with another rank on Data.
type drain struct {
	From    int
	Posted  int32      // receives posted from you: numbers below
	Started [][2]int32 // sends started to you: ranges of numbers, the end exclusive
	Gathers []int32    // by key: how many rounds have begun, with a send to you and a receive from you
	Fetched []fetched  // by key: of gathers with lists
}

// Input is a file that a rank's program reads, as the rank sees it.
type Input struct {
	Path string // as the program says it
	Head string // what its format's head says, such as f64[1000,20]
	Size int64  // bytes
	// Sample is a hash of at most sampleBlocks blocks, Whole of all bytes. Zero: not computed.
	Sample, Whole [32]byte
	// Device, Inode and the times, in nanoseconds since 1970, tell whether two ranks see the
	// same file.
	Device, Inode     uint64
	Modified, Changed int64
}

// fetched counts the rounds of a gather with lists that had messages between this rank and another
// one, and has the sizes of the last ones.
type fetched struct {
	Rounds             int32
	Give, Take         int
	GiveSome, TakeSome bool // see local.Parts
}

// end is rank 0's final message.
type end struct{ Failure *failure }
