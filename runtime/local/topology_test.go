package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// machine writes the files of a machine with the given sockets of nodes of cores of two threads;
// thread t of core c has number c + t * cores, as on most of them.
func machine(t *testing.T, sockets, nodes, perNode int) string {
	t.Helper()
	root := t.TempDir()
	all := sockets * nodes * perNode
	write := func(text string, path ...string) {
		file := filepath.Join(append([]string{root}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for n := range sockets * nodes {
		lo, hi := n*perNode, (n+1)*perNode-1
		write(fmt.Sprintf("%d-%d,%d-%d", lo, hi, lo+all, hi+all), "node", fmt.Sprint("node", n), "cpulist")
		for c := lo; c <= hi; c++ {
			for _, cpu := range []int{c, c + all} {
				write(fmt.Sprint(c%(nodes*perNode)), "cpu", fmt.Sprint("cpu", cpu), "topology", "core_id")
				write(fmt.Sprint(n/nodes), "cpu", fmt.Sprint("cpu", cpu), "topology", "physical_package_id")
			}
		}
	}
	return root
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestTopology(t *testing.T) {
	two := topology(machine(t, 2, 1, 4), upTo(16)) // two sockets of a node and four cores each
	if n := cores(two); n != 8 {
		t.Errorf("%d cores, want 8", n)
	}
	if g := groupsOf(two, 16); !slices.Equal(g, []int{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}) {
		t.Errorf("groups %v", g)
	}
	// A mask that leaves the second threads of one socket and one core of the other.
	some := topology(machine(t, 2, 1, 4), []int{5, 8, 9, 13})
	if ids := []int{some[0].id, some[1].id, some[2].id, some[3].id}; !slices.Equal(ids, []int{5, 8, 9, 13}) || cores(some) != 3 {
		t.Errorf("processors %v, %d cores", ids, cores(some))
	}
	if g := groupsOf(some, 6); !slices.Equal(g, []int{0, 1, 1, 0, 0, 1}) {
		t.Errorf("groups %v", g)
	}
	// Four nodes in one socket; and sockets where nodes are not told.
	if g := groupsOf(topology(machine(t, 1, 4, 2), upTo(8)), 8); !slices.Equal(g, []int{0, 0, 1, 1, 2, 2, 3, 3}) {
		t.Errorf("groups %v", g)
	}
	root := machine(t, 2, 1, 2)
	if err := os.RemoveAll(filepath.Join(root, "node")); err != nil {
		t.Fatal(err)
	}
	if g := groupsOf(topology(root, upTo(4)), 4); !slices.Equal(g, []int{0, 0, 1, 1}) {
		t.Errorf("groups %v", g)
	}
	// Nothing told: cores of their own in one group. No processors known at all.
	if bare := topology(t.TempDir(), upTo(3)); cores(bare) != 3 || !slices.Equal(groupsOf(bare, 4), []int{0, 0, 0, 0}) {
		t.Errorf("%+v", bare)
	}
	if g := groupsOf(nil, 2); !slices.Equal(g, []int{0, 0}) {
		t.Errorf("groups %v", g)
	}
	if l := cpuList("0-2,7,x,9-8,4-y"); !slices.Equal(l, []int{0, 1, 2, 7}) {
		t.Errorf("list %v", l)
	}
}

// Where the threads of a core have numbers side by side, workers take one of each core first too.
func TestTopologyOfNeighbours(t *testing.T) {
	root := t.TempDir()
	for cpu := range 6 {
		dir := filepath.Join(root, "cpu", fmt.Sprint("cpu", cpu), "topology")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "core_id"), []byte(fmt.Sprintln(cpu/2)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := topology(root, upTo(6))
	var ids []int
	for _, p := range list {
		ids = append(ids, p.id)
	}
	if !slices.Equal(ids, []int{0, 2, 4, 1, 3, 5}) || cores(list) != 3 {
		t.Errorf("processors %v, %d cores", ids, cores(list))
	}
	// Both threads of one core are all that there is: one worker, or as many as processors.
	machine := func() []processor { return topology(root, []int{2, 3}) }
	if one, all := parallelism(true, machine), parallelism(false, machine); one != 1 || all != Parallelism(false) {
		t.Errorf("%d workers on one core, %d without caring", one, all)
	}
}

func TestPoolTakesCores(t *testing.T) {
	p := NewPool(0, PoolOptions{OneThreadPerCore: true})
	defer p.Close()
	if n := p.Workers(); n < 1 || len(p.Groups()) != n {
		t.Errorf("%d workers, groups %v", n, p.Groups())
	}
}
