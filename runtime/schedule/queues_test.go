package schedule

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestQueuesExactlyOnce lets all workers claim under every technique, layout and victim, execution
// after execution, with more workers than iterations and without any iterations too.
func TestQueuesExactlyOnce(t *testing.T) {
	names := []string{"expr: max(1, R/(2*P) - i % 3)"}
	for _, row := range techniques() {
		names = append(names, row.Name)
	}
	loops := []Params{{N: 5003, P: 8}, {N: 5, P: 8}, {N: 0, P: 2}, {N: 700, P: 3, MinChunk: 7, Weights: []float64{1, 5, 2}}, {N: 99, P: 1}}
	for k, name := range names {
		tech, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for layout := Centralized; layout <= PerCPU; layout++ {
			for victim := Seq; victim <= RandomPri; victim++ {
				if layout == Centralized && victim > 0 || testing.Short() && (k+int(layout)+int(victim))%5 != 0 {
					continue
				}
				for _, pre := range []bool{false, true} {
					plan := &Plan{Technique: tech, Layout: layout, Victim: victim, PrePartition: pre, Groups: []int{0, 0, 1, 1, 2, 2, 0, 1}, Seed: 3}
					for _, p := range loops {
						q, err := NewQueues(plan, p)
						if err != nil {
							t.Fatal(err)
						}
						exactlyOnce(t, q, plan, p)
					}
				}
			}
		}
	}
}

func exactlyOnce(t *testing.T, q *Queues, plan *Plan, p Params) {
	t.Helper()
	did := make([]atomic.Int32, p.N)
	for execution := range 2 {
		var wg sync.WaitGroup
		for w := range p.P {
			wg.Go(func() {
				for {
					start, size, _, ok := q.Claim(w)
					if !ok {
						return
					}
					if start < 0 || size < 1 || start+size > p.N {
						t.Errorf("chunk %d + %d of %d", start, size, p.N)
						return
					}
					for i := start; i < start+size; i++ {
						did[i].Add(1)
					}
					if size%3 == 0 {
						runtime.Gosched()
					}
					q.Report(w, start, size, float64(size)*float64(1+w), 0.1)
				}
			})
		}
		wg.Wait()
		if err := q.Err(); err != nil {
			t.Fatal(err)
		}
		for i := range did {
			if got := int(did[i].Load()); got != execution+1 {
				t.Fatalf("%s %v %v pre=%v N=%d P=%d execution %d: iteration %d was done %d times", plan.Technique.Name, plan.Layout, plan.Victim,
					plan.PrePartition, p.N, p.P, execution, i, got)
			}
		}
		q.Reset()
	}
}

// claims are the chunks that one worker gets when it asks alone.
func claims(t *testing.T, plan *Plan, p Params, worker int) (chunks [][2]int, stolen int) {
	t.Helper()
	q, err := NewQueues(plan, p)
	if err != nil {
		t.Fatal(err)
	}
	for {
		start, size, s, ok := q.Claim(worker)
		if !ok {
			return chunks, stolen
		}
		if s {
			stolen++
		} else if stolen > 0 {
			t.Error("a chunk of the own queue after a stolen one")
		}
		chunks = append(chunks, [2]int{start, size})
	}
}

// The own queue comes first, then the others in the order of the policy. Chunks of SS are dealt in
// turn, so a chunk tells its queue.
func TestVictimOrder(t *testing.T) {
	ss, _ := Lookup("SS")
	groups := []int{0, 1, 0, 1, 0, 1}
	order := func(victim Victim, worker int) (queues []int) {
		list, stolen := claims(t, &Plan{Technique: ss, Layout: PerCPU, Victim: victim, Groups: groups, Seed: 9}, Params{N: 60, P: 6}, worker)
		if len(list) != 60 || stolen != 50 {
			t.Fatalf("%d chunks, %d stolen", len(list), stolen)
		}
		for _, c := range list {
			queues = append(queues, c[0]%6)
		}
		return queues
	}
	runs := func(queues []int) (out []int) {
		for i, q := range queues {
			if i == 0 || q != queues[i-1] {
				out = append(out, q)
			}
		}
		return out
	}
	equal := func(got []int, want ...int) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("queues %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("queues %v, want %v", got, want)
			}
		}
	}
	equal(runs(order(Seq, 2)), 2, 3, 4, 5, 0, 1)
	equal(runs(order(SeqPri, 2)), 2, 4, 0, 3, 5, 1)
	for _, q := range order(RandomPri, 3)[:30] { // the own one and both of its group
		if groups[q] != 1 {
			t.Errorf("queue %d before those of the group", q)
		}
	}
	if r := runs(order(Random, 0)); len(r) < 10 {
		t.Errorf("random victims went %v", r)
	}
}

// Pre-partitioning cuts every queue's share by itself: the second queue of two begins in the
// middle.
func TestShares(t *testing.T) {
	gss, _ := Lookup("GSS")
	plan := &Plan{Technique: gss, Layout: PerCPU, PrePartition: true}
	list, stolen := claims(t, plan, Params{N: 1001, P: 2}, 1)
	if list[0] != [2]int{501, 250} || stolen == 0 || stolen == len(list) {
		t.Errorf("%d stolen of %v", stolen, list)
	}
	plan = &Plan{Technique: gss, PrePartition: true} // one queue: the shares one behind the other
	list, _ = claims(t, plan, Params{N: 1001, P: 2}, 1)
	if list[0] != [2]int{0, 251} || list[len(list)-1] != [2]int{1000, 1} {
		t.Errorf("%v", list)
	}
	plan = &Plan{Technique: gss, Layout: PerGroup, Groups: []int{0, 1, 1}}
	list, _ = claims(t, plan, Params{N: 900, P: 3}, 2) // dealt: the second queue has steps 1, 3, 5
	if list[0] != [2]int{300, 200} || list[1][0] != 634 {
		t.Errorf("%v", list)
	}
}

// TestGrain: under every technique and layout no chunk is smaller than the grain, but the last of a
// loop, or of a share of it that is cut by itself.
func TestGrain(t *testing.T) {
	const n, p, grain = 5003, 6, 37
	for _, tech := range techniques() {
		for layout := Centralized; layout <= PerCPU; layout++ {
			for _, pre := range []bool{false, true} {
				plan := &Plan{Technique: &tech, Layout: layout, PrePartition: pre, Groups: []int{0, 0, 0, 1, 1, 1}, Grain: grain}
				q, err := NewQueues(plan, Params{N: n, P: p})
				if err != nil {
					t.Fatal(err)
				}
				for execution := range 4 {
					small, sum := 0, 0
					for idle, w := 0, 0; idle < p; w = (w + 1) % p {
						start, size, _, ok := q.Claim(w)
						if idle++; ok {
							idle, sum = 0, sum+size
							q.Report(w, start, size, float64(size), 0.1)
							if size < grain {
								small++
							}
						}
					}
					if small > max(1, len(q.shares)) || sum != n {
						t.Errorf("%s, %v, pre=%v, execution %d: %d chunks of fewer than %d iterations, %d iterations in all", tech.Name, layout, pre, execution, small, grain, sum)
					}
					q.Reset()
				}
			}
		}
	}
}

// TestSharesOfProfile: each share knows what its own part of the loop is expected to cost.
func TestSharesOfProfile(t *testing.T) {
	tech, _ := Lookup("COST")
	profile := make([]float64, 100) // of ten iterations each; the last fourth is all there is to do
	for i := range 25 {
		profile[75+i] = 1
	}
	q, err := NewQueues(&Plan{Technique: tech, Layout: PerCPU}, Params{N: 1000, P: 4, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	for i := range q.shares {
		sum := 0.0
		for _, c := range q.shares[i].claimer.calc.Loop().Profile {
			sum += c
		}
		if want := float64(i/3) * 25; sum != want {
			t.Errorf("share %d is expected to cost %g, want %g", i, sum, want)
		}
	}
}

func TestNamesOfLayouts(t *testing.T) {
	for i, name := range Layouts() {
		if l, err := ParseLayout(name); err != nil || int(l) != i || l.String() != name {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	if v, err := ParseVictim("random_pri"); err != nil || v != RandomPri {
		t.Error(v, err)
	}
	var unknown *UnknownError
	if _, err := ParseVictim("SEQPRY"); !errors.As(err, &unknown) || unknown.Help() != "did you mean SEQPRI?" {
		t.Errorf("%v", err)
	}
	if _, err := ParseLayout("x"); !errors.As(err, &unknown) || unknown.Help() != "there are CENTRALIZED, PERGROUP, PERCPU" {
		t.Errorf("%v", err)
	}
}

// TestStolenInHand: while a thief has units in hand, between taking them from a block and putting
// them into its own, others see all blocks empty. The thief must find its units again whatever the
// others concluded from that.
func TestStolenInHand(t *testing.T) {
	for _, plan := range []Plan{{Layout: PerCPU}, {PrePartition: true}, {Layout: PerCPU, Victim: RandomPri}} {
		plan.Technique = mustLookup("StaticSteal")
		const n, workers = 64, 2
		q, err := NewQueues(&plan, Params{N: n, P: workers})
		if err != nil {
			t.Fatal(err)
		}
		blocks := q.shares[0].claimer.blocks
		taken := Block(blocks.own[0].word.Swap(0)) // worker 1 has just robbed worker 0 of everything, and its own block is done
		blocks.own[1].word.Store(0)
		done := map[int]bool{}
		for { // worker 0 finds its queue empty, and does what else there is
			start, size, _, ok := q.Claim(0)
			if !ok {
				break
			}
			for i := range size {
				done[start+i] = true
			}
		}
		blocks.give(1, taken)
		lo, hi := taken.Bounds()
		for {
			start, size, _, ok := q.Claim(1)
			if !ok {
				break
			}
			for i := range size {
				done[start+i] = true
			}
		}
		for i := lo; i < hi; i++ {
			if !done[i] {
				t.Fatalf("%v %v: iteration %d, which the thief had in hand, is lost", plan.Layout, plan.Victim, i)
			}
		}
	}
}

func BenchmarkQueues(b *testing.B) {
	for _, layout := range []Layout{Centralized, PerCPU} {
		for _, name := range []string{"SS", "GSS"} {
			b.Run(layout.String()+"/"+name, func(b *testing.B) {
				t, err := Lookup(name)
				if err != nil {
					b.Fatal(err)
				}
				q, err := NewQueues(&Plan{Technique: t, Layout: layout}, Params{N: 1 << 20, P: 2})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, _, _, ok := q.Claim(0); !ok {
						q.Reset()
					}
				}
			})
		}
	}
}

// TestDefaultChunks pins the default technique's bound of 256 chunks a worker. A grain of the plan and
// a technique that is named go before it.
func TestDefaultChunks(t *testing.T) {
	auto, err := Lookup("AUTO_CHUNK")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		plan Plan
		n    int
		want int
	}{
		{Plan{}, 1 << 20, 512},
		{Plan{Grain: 1}, 1 << 20, 8192},
		{Plan{Technique: auto}, 1 << 20, 8192},
		{Plan{}, 1 << 10, 128},
	} {
		q, err := NewQueues(&tt.plan, Params{N: tt.n, P: 2})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for {
			_, _, _, ok := q.Claim(got % 2)
			if !ok {
				break
			}
			got++
		}
		if got != tt.want {
			t.Errorf("%+v of %d units: %d chunks, want %d", tt.plan, tt.n, got, tt.want)
		}
	}
}
