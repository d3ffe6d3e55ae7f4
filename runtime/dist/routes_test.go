package dist

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"testing"

	"flow/ir"
	"flow/runtime/local/enginetest"
)

// All ranks must derive the same messages: each send has the receive of the same number, exchange
// and order.
func TestRoutesMeet(t *testing.T) {
	for ranks := 2; ranks <= 9; ranks++ {
		p := enginetest.Random(uint64(ranks), 600, ranks)
		all := make([]*routes, ranks)
		for i := range all {
			all[i] = newRoutes(p, i)
		}
		type key struct {
			src, dst, num int32
			exchange      ir.ID
		}
		sent, got := map[key]int{}, map[key]int{}
		for i, r := range all {
			for _, s := range r.sends {
				sent[key{int32(i), s.dst, s.num, s.exchange}]++
			}
			next := make([]int32, ranks)
			last := ir.ID(-1)
			for _, x := range r.receives {
				got[key{x.src, int32(i), x.num, x.exchange}]++
				if x.pos < last {
					t.Fatalf("rank %d receives for %%%d after %%%d", i, x.pos, last)
				}
				last = x.pos
				if x.num >= 0 {
					if x.num != next[x.src] {
						t.Fatalf("rank %d posts number %d of rank %d, want %d", i, x.num, x.src, next[x.src])
					}
					next[x.src]++
				}
			}
		}
		if len(sent) == 0 || len(sent) != len(got) {
			t.Fatalf("%d ranks: %d sends, %d receives", ranks, len(sent), len(got))
		}
		for k, n := range sent {
			if n != 1 || got[k] != 1 {
				t.Fatalf("%d ranks: message %+v is sent %d times, received %d times", ranks, k, n, got[k])
			}
		}
	}
}

func TestTreeReachesAllInLogarithmicSteps(t *testing.T) {
	for n := 1; n <= 70; n++ {
		depth := make([]int, n)
		reached := []int{0}
		for at := range n {
			for j := lastChild(at, n); j >= 0; j-- {
				child := at + 1<<j
				if parent(child) != at {
					t.Fatalf("%d places: %d is below %d, whose parent is %d", n, child, at, parent(child))
				}
				// The owner sends one after the other, so a child also waits for
				// its elder siblings.
				depth[child] = depth[at] + lastChild(at, n) - j + 1
				reached = append(reached, child)
			}
		}
		slices.Sort(reached)
		steps := 0
		for i, r := range reached {
			if i != r {
				t.Fatalf("%d places: reached %v", n, reached)
			}
			steps = max(steps, depth[i])
		}
		want := 0
		for 1<<want < n {
			want++
		}
		if len(reached) != n || steps > want {
			t.Errorf("%d places: %d steps, want %d", n, steps, want)
		}
	}
}

func TestForwardingIsShared(t *testing.T) {
	const ranks = 8
	text := "plan ranks 8\nown"
	var body string
	for i := range 400 {
		if i%2 == 0 {
			body += fmt.Sprintf("%%%d = fill() {v=1.0} : f64[1,1]\n", i)
		} else {
			body += fmt.Sprintf("%%%d = exchange(%%%d) {to=[1,2,3,4,5,6,7]} : f64[1,1]\n", i, i-1)
		}
		text += " 0"
	}
	p := parse(t, text+"\n"+body)
	for i := 1; i < ranks; i++ {
		if n := len(newRoutes(p, i).sends); n < 80 || n > 150 {
			t.Errorf("rank %d forwards %d of 200 values, want about 114", i, n)
		}
	}
}

func TestRangesOfBits(t *testing.T) {
	bits := []uint64{0b1011, 1 << 63}
	if got, want := fmt.Sprint(ranges(bits, 128)), "[[0 2] [3 4] [127 128]]"; got != want {
		t.Errorf("ranges %s, want %s", got, want)
	}
}

// Ranks that a launcher has bound to processors of their own have room to poll, and ranks that share
// one have none.
func TestRoomForPolling(t *testing.T) {
	one := func(cpu int) (c cpus) {
		c[cpu/64] = 1 << (cpu % 64)
		return c
	}
	for _, c := range []struct {
		peers        []process
		workers, own int
		roomy        bool
	}{
		{[]process{{Host: "a", CPUs: one(0)}, {Host: "a", CPUs: one(65)}, {Host: "b"}}, 1, 1, true},
		{[]process{{Host: "a", CPUs: one(0)}, {Host: "a", CPUs: one(65)}, {Host: "b"}}, 2, 1, false},
		{[]process{{Host: "a", CPUs: one(0)}, {Host: "a", CPUs: one(0)}}, 1, 1, false},
		{[]process{{Host: "a", CPUs: one(0)}, {Host: "b", CPUs: one(1)}}, 1, 1, true},
		{[]process{{Host: "a", CPUs: one(0)}, {Host: "b", CPUs: one(1)}}, 2, 1, false}, // those of another machine are of no use
		{[]process{{Host: "a"}, {Host: "a"}}, 4, 8, true},                              // not bound
		{[]process{{Host: "a"}, {Host: "a"}}, 5, 8, false},
	} {
		if r := (&rank{peers: c.peers}); r.roomy(c.workers, c.own) != c.roomy {
			t.Errorf("%d workers each of %v, %d processors: %v", c.workers, c.peers, c.own, !c.roomy)
		}
	}
	known := 0
	for _, set := range affinity() {
		known += bits.OnesCount64(set)
	}
	if most := 64 * len(cpus{}); runtime.GOOS == "linux" && known != min(runtime.NumCPU(), most) {
		t.Errorf("%d processors are known of %d, of which at most %d can be", known, runtime.NumCPU(), most)
	}
}
