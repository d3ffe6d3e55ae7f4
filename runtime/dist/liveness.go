package dist

// This file decides which ranks are alive. A rank is dead when its process is gone, never because
// it is slow, silent or stopped.

import (
	"fmt"
	"math/bits"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"flow/ir"
	"flow/runtime/local"
)

func (p process) String() string { return fmt.Sprintf("process %d on %s", p.Pid, p.Host) }

// thisProcess describes the process that calls it. Its processors may change, so they are read at each
// call.
func thisProcess() process {
	p := ownProcess()
	p.CPUs = affinity()
	return p
}

// ownProcess returns the properties of this process that do not change.
var ownProcess = sync.OnceValue(func() process {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	start, _ := processStart(os.Getpid())
	return process{Host: host, Space: processSpace(), Pid: os.Getpid(), Start: start}
})

// gone reports whether p, of this machine, no longer runs. A stopped process runs.
func (p process) gone() bool { return !stillRuns(p.Pid, p.Start) }

// stillRuns reports whether a process runs that began at start. Where the system cannot say, for want
// of a file descriptor, it does.
func stillRuns(pid int, start string) bool {
	now, alive := processStart(pid)
	return alive && (now == start || now == "" || start == "")
}

// firstGone returns the first rank whose process can be checked from rank me and no longer runs, or
// -1.
func firstGone(peers []process, me int) int {
	for i, p := range peers {
		if i != me && p.Space == peers[me].Space && p.Space != "" && p.Pid != peers[me].Pid && p.gone() {
			return i
		}
	}
	return -1
}

// sendBeat tells the next ranks, or all if they are few, what this one is doing. It sends nothing
// after its tasks have ended: the end waits until nothing is under way, which heartbeats would
// delay for ever if a round of the loop took longer than their period. Nor does it send to a rank
// that has not taken the last one yet.
func (r *rank) sendBeat() {
	if r.ending.idle {
		return
	}
	b := &beat{From: r.me, Finished: r.eng.Finished(), Tasks: r.eng.Tasks()}
	for _, id := range r.eng.Current() {
		b.Nodes = append(b.Nodes, int32(id))
	}
	for i := 1; i < min(r.n, beatPeers+1); i++ {
		if to := (r.me + i) % r.n; !r.beating[to].Load() {
			r.beating[to].Store(true)
			r.say(to, &message{beat: b})
		}
	}
}

// hasNeighbours reports whether another rank's process can be checked from here.
func (r *rank) hasNeighbours() bool {
	me := r.peers[r.me]
	for _, p := range r.peers {
		if p.Space == me.Space && p.Space != "" && p.Pid != me.Pid {
			return true
		}
	}
	return false
}

// keenness returns how long an idle worker of the pool polls without a sleep. It is 0 if there are
// fewer processors than workers, because polling would take processors from the threads that compute.
// It is 0, too, if the workers of the pool do not spin.
func (r *rank) keenness(pool *local.Pool, own int) time.Duration {
	if pool.Spins() && r.roomy(pool.Workers(), own) {
		return keenly
	}
	return 0
}

// roomy reports whether each worker of the ranks on this machine can have a processor. Each rank has
// that many workers, and this process may use own processors. A launcher may have given each rank
// processors of its own, or the same to all.
func (r *rank) roomy(workers, own int) bool {
	all, ranks, n := cpus{}, 0, 0
	for _, p := range r.peers {
		if p.Host == r.peers[r.me].Host {
			ranks++
			for i, set := range p.CPUs {
				all[i] |= set
			}
		}
	}
	for _, set := range all {
		n += bits.OnesCount64(set)
	}
	return ranks*workers <= max(n, own)
}

// sharesProcess reports whether another rank is in this one's process.
func (r *rank) sharesProcess() bool {
	for i, p := range r.peers {
		if i != r.me && p == r.peers[r.me] {
			return true
		}
	}
	return false
}

// processorTime returns the processor time that all threads of this process have used; 0 if it is not
// known.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// look checks for dead processes. A rank may leave once the end has been announced, and its last
// message may still be on its way, so a process must be found gone twice, some time apart.
func (r *rank) look() {
	me := r.peers[r.me]
	for i, p := range r.peers {
		if i == r.me || p.Space != me.Space || p.Space == "" || p.Pid == me.Pid || !p.gone() {
			continue
		}
		if r.suspect == nil {
			r.suspect = map[int]time.Time{}
		}
		first, again := r.suspect[i]
		if !again {
			r.suspect[i] = time.Now()
			r.poll()
			continue
		}
		if time.Since(first) < 20*time.Millisecond {
			continue
		}
		r.poll()
		r.listen()
		if r.ending.end != nil || r.ending.failure != nil && r.ending.failure.Severity == rankDied {
			return
		}
		f := &failure{Severity: rankDied, Rank: i}
		r.describe(f)
		r.note(f)
		r.others(func(to int) {
			if to != i {
				r.say(to, &message{Failure: f})
			}
		})
		return
	}
}

// describe adds to a death what is known about it.
func (r *rank) describe(f *failure) {
	if f.Rank < len(r.peers) {
		f.Where = r.peers[f.Rank].String()
	}
	b := r.beats[f.Rank]
	if b.Tasks == 0 {
		return
	}
	f.Last = fmt.Sprintf("when last heard of, %.1f s ago, it had finished %d of %d tasks", time.Since(b.heard).Seconds(), b.Finished, b.Tasks)
	var in []string
	for _, id := range b.Nodes {
		in = append(in, r.nameOf(id))
	}
	if len(in) > 0 {
		f.Last += " and was in " + strings.Join(in, ", ")
	}
}

// nameOf describes a task: `gemm L[3,2] version 1 (k = 1)`.
func (r *rank) nameOf(id int32) string {
	if int(id) >= r.p.Graph.Len() || id < 0 {
		return fmt.Sprintf("task %d", id)
	}
	s := r.p.Graph.Nodes[id].Op.Source()
	if w := r.p.Where(ir.ID(id)); w != "" {
		s += " " + w
	}
	return s
}
