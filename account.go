package flow

import (
	"fmt"
	"io"

	"flow/ir"
	"flow/lang/source"
	"flow/runtime/replay"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// This file defines Account: where the time of an observed run and of its loops went, against the
// ideal.

// Account says where the time of a run went, and how fast it could have been. Times are seconds.
type Account struct {
	Loops []LoopAccount    // by operator, in the order of their first executions; of all ranks
	Sum   schedule.Account // of all loops together
	Run   RunAccount       // of all of the run
	// Shared has an account over all ranks of each loop that several ranks share. It leaves out loops that
	// ranks ran a different number of times. An entry of Loops has the rows of one rank on the workers of
	// that rank, although other ranks may have run some of the rows.
	Shared []SharedAccount
}

// SharedAccount is the account of one operator whose rows several ranks share.
type SharedAccount struct {
	Name, Where string           // as in a LoopAccount
	Ranks       int              // the number of ranks that share it
	Sum         schedule.Account // of all executions, in seconds
}

// LoopAccount is one operator whose rows ran as loops.
type LoopAccount struct {
	Name      string           // of the operator
	Where     string           // file:line:column, "" if unknown
	Rank      int              // that ran it
	Technique string           // of the last execution
	Sum       schedule.Account // of all executions together
	// Oracle is the technique that would have been fastest, and its time; "" if finding it
	// would take too long. It covers all executions, or only the longest one.
	Oracle     string
	OracleTime float64 // of that technique
	OracleAll  bool    // whether it is about all executions
	Named      bool    // the program names a technique for it

	recorded *replay.Operator
}

// Recorded returns the recorded executions, for tools that replay them.
func (l *LoopAccount) Recorded() *replay.Operator { return l.recorded }

// RunAccount is a whole run. Workers * Time = Busy + Sched + Idle.
type RunAccount struct {
	Workers int     // of all ranks
	Time    float64 // from the first task to the last
	// in tasks, handing out chunks, and neither, summed over the workers
	Busy, Sched, Idle float64
	// Area is Busy spread evenly. CriticalPath is the longest chain of dependent tasks by their
	// measured times; a task that was a loop counts with its largest leaf. No schedule of the
	// same tasks is faster than either.
	Area, CriticalPath float64
	// Ranks is the same of each rank.
	Ranks []RankAccount
	// Inflation is Busy over the busy time of the program's last observed run on one worker; 0:
	// there was none.
	Inflation float64
}

// RankAccount is what the workers of one rank did in the time of the whole run.
type RankAccount struct {
	Rank              int     // its number
	Busy, Sched, Idle float64 // as of the run
}

// Bound returns the larger lower bound and its name.
func (r *RunAccount) Bound() (float64, string) {
	if r.CriticalPath > r.Area {
		return r.CriticalPath, "critical path"
	}
	return r.Area, "area"
}

// oracleBudget is how many units of loops an Account replays to find oracles, over all operators.
const oracleBudget = 1 << 20

// Account accounts for a run with RunOptions.Stats or Trace. With oracles it also finds those,
// which can take some seconds, and work inflation, for which the cache remembers a run on one
// worker.
func (p *Program) Account(r *Report, oracles bool) (*Account, error) {
	a := &Account{}
	named := map[string]bool{}
	for _, o := range p.OwnSchedules() {
		named[o.Name+" "+o.Where] = true
	}
	replayed := 0
	for k := range r.Ranks {
		rank := &r.Ranks[k]
		a.Run.Workers += rank.Workers
		a.Run.Time = max(a.Run.Time, rank.Seconds)
		own := RankAccount{Rank: rank.Rank, Busy: rank.Busy}
		p.locate(rank.Loops)
		operators := replay.FromRecords(rank.Rank, rank.Loops, replay.Quick)
		for i := range operators {
			o := &operators[i]
			l := LoopAccount{Name: o.Name, Where: o.Where, Rank: o.Rank, Technique: o.Technique, Sum: o.Account(), recorded: o, Named: named[o.Name+" "+o.Where]}
			if oracles && replayed <= oracleBudget {
				var err error
				if l.Oracle, l.OracleTime, l.OracleAll, err = replay.Oracle(o); err != nil {
					return nil, fmt.Errorf("BUG: replaying the loops of %s: %w", o.Name, err)
				}
				replayed += o.Units()
			}
			a.Loops = append(a.Loops, l)
			a.Sum = a.Sum.Plus(l.Sum)
			own.Sched += l.Sum.Sched
		}
		own.Sched = min(own.Sched, own.Busy) // claims are part of a worker's share of a task
		own.Busy -= own.Sched
		a.Run.Ranks = append(a.Run.Ranks, own)
	}
	a.share()
	run := &a.Run
	for k := range run.Ranks {
		own := &run.Ranks[k]
		own.Idle = max(0, float64(r.Ranks[k].Workers)*run.Time-own.Busy-own.Sched)
		run.Busy += own.Busy
		run.Sched += own.Sched
	}
	for _, rec := range r.Recordings {
		if rec != nil {
			p.locate(rec.Loops)
		}
	}
	run.Idle = max(0, float64(run.Workers)*run.Time-run.Busy-run.Sched)
	run.Area = run.Busy / float64(max(run.Workers, 1))
	run.CriticalPath = p.criticalPath(r, a.Loops)
	if oracles && run.Busy > 0 {
		run.Inflation = p.inflation(run.Workers, run.Busy)
	}
	return a, nil
}

// share makes Shared from Loops.
func (a *Account) share() {
	type key struct{ name, where string }
	var order []key
	of := map[key][]*replay.Operator{}
	for i := range a.Loops {
		l := &a.Loops[i]
		k := key{l.Name, l.Where}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], l.recorded)
	}
	for _, k := range order {
		if list := of[k]; len(list) > 1 {
			if sum, ok := replay.Together(list); ok {
				a.Shared = append(a.Shared, SharedAccount{k.name, k.where, len(list), sum})
			}
		}
	}
}

// WriteTrace writes the recordings in the format of Chrome's tracing, which Perfetto opens: a
// process a rank, a track a worker.
func (r *Report) WriteTrace(w io.Writer, p *Program) error {
	for _, rec := range r.Recordings {
		if rec != nil {
			p.locate(rec.Loops)
		}
	}
	names := map[int][]string{}
	for _, rec := range r.Recordings {
		if rec != nil {
			names[rec.Rank] = rec.Names
		}
	}
	describe := func(rank int, e *trace.Event) []trace.Arg {
		if int(e.ID) >= p.made.Plan.Graph.Len() || e.ID < 0 {
			return nil
		}
		kernel := ""
		if all := names[rank]; e.Name >= 0 && int(e.Name) < len(all) {
			kernel = all[e.Name]
		}
		args := []trace.Arg{{Key: trace.NameKey, Text: p.statement(ir.ID(e.ID), kernel)}}
		if where := p.made.Plan.Where(ir.ID(e.ID)); where != "" {
			args = append(args, trace.Arg{Key: "where", Text: where})
		}
		if file, line, _ := p.made.Files.Position(p.made.Plan.Graph.Nodes[e.ID].Span.From); line > 0 {
			args = append(args, trace.Arg{Key: "source", Text: fmt.Sprintf("%s:%d", file, line)})
		}
		return args
	}
	return trace.WriteChrome(w, describe, r.Recordings...)
}

// locate sets the places of the loops' operators: an operator in an iterate is at its own place,
// not at the iterate's.
func (p *Program) locate(loops []trace.LoopRecord) {
	g := p.made.Plan.Graph
	for i := range loops {
		l := &loops[i]
		at := source.Pos(l.At)
		if at == 0 && l.Node >= 0 && int(l.Node) < g.Len() {
			at = g.Nodes[l.Node].Span.From
		}
		if l.Where == "" && at > 0 {
			if file, line, column := p.made.Files.Position(at); line > 0 {
				l.Where = fmt.Sprintf("%s:%d:%d", file, line, column)
			}
		}
	}
}

// criticalPath returns the longest path through the graph with the measured time of every task.
// Executions of a node are consecutive, so their times add up; those of a node that several ranks
// execute are at one time, so the longest counts. It is 0 unless all events were recorded.
func (p *Program) criticalPath(r *Report, loops []LoopAccount) float64 {
	g := p.made.Plan.Graph
	longestOf, any := make([]float64, g.Len()), false
	for _, rec := range r.Recordings {
		if rec == nil {
			continue
		}
		length := make([]float64, g.Len())
		for i := range rec.Tracks {
			if rec.Tracks[i].Counters.Dropped > 0 {
				return 0
			}
			for e := range rec.Tracks[i].Events() {
				if e.Kind == trace.Task && e.ID >= 0 && int(e.ID) < len(length) {
					length[e.ID] += float64(e.End-e.Start) / 1e9
					any = true
				}
			}
		}
		of := func(f func(id int32, largest float64)) { // the rank's executions of loops
			for i := range loops {
				for k := range loops[i].recorded.Loops {
					l := &loops[i].recorded.Loops[k]
					if id := l.Record.Node; loops[i].Rank == rec.Rank && id >= 0 && int(id) < len(length) {
						f(id, l.Largest())
					}
				}
			}
		}
		// The task's event is the opener's share, which is no lower bound of its time.
		of(func(id int32, _ float64) { length[id] = 0 })
		of(func(id int32, largest float64) { length[id] += largest })
		for id, x := range length {
			longestOf[id] = max(longestOf[id], x)
		}
	}
	if !any {
		return 0
	}
	longest := 0.0
	for id := range longestOf { // what a node reads stands before it
		before := 0.0
		for _, x := range g.In(ir.ID(id)) {
			before = max(before, longestOf[x])
		}
		longestOf[id] += before
		longest = max(longest, longestOf[id])
	}
	return longest
}
