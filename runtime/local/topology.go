package local

// This file reads from Linux's /sys which processors share a core, a socket and a memory node.
// Without it every processor is a core of its own in one group.

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sysfs is where the system describes its topology.
const sysfs = "/sys/devices/system"

// processor is a processor that threads can be bound to.
type processor struct {
	id                 int
	core, socket, node int
	sibling            int // how many earlier ones in the list are of the same core
}

// topology describes the processors of a list in the order in which workers take them: first one of
// every core, then the second ones. Tests use another root.
func topology(root string, cpus []int) []processor {
	node := memoryNodes(root)
	out := make([]processor, 0, len(cpus))
	seen := map[[2]int]int{}
	for _, id := range cpus {
		dir := filepath.Join(root, "cpu", "cpu"+strconv.Itoa(id), "topology")
		p := processor{id: id, core: number(dir, "core_id", -1-id), socket: number(dir, "physical_package_id", 0), node: node[id]}
		p.sibling = seen[[2]int{p.socket, p.core}]
		seen[[2]int{p.socket, p.core}]++
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b processor) int { return cmp.Or(cmp.Compare(a.sibling, b.sibling), cmp.Compare(a.id, b.id)) })
	return out
}

// memoryNodes maps processors to their NUMA node.
func memoryNodes(root string) map[int]int {
	out := map[int]int{}
	// the pattern is well-formed
	lists, _ := filepath.Glob(filepath.Join(root, "node", "node*", "cpulist"))
	for _, file := range lists {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "node"))
		text, rerr := os.ReadFile(file)
		if err != nil || rerr != nil {
			continue
		}
		for _, cpu := range cpuList(string(text)) {
			out[cpu] = n
		}
	}
	return out
}

// cpuList parses a list such as 0-3,8,10-11 and skips malformed parts.
func cpuList(text string) (out []int) {
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || hi-lo > 1<<16 {
			continue
		}
		for cpu := lo; cpu <= hi; cpu++ {
			out = append(out, cpu)
		}
	}
	return out
}

// number reads a file that holds one number.
func number(dir, name string, otherwise int) int {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return otherwise
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return otherwise
	}
	return n
}

// cores returns how many of the processors are the first of their core.
func cores(list []processor) int {
	n := 0
	for _, p := range list {
		if p.sibling == 0 {
			n++
		}
	}
	return n
}

// groupsOf numbers the groups of workers: memory nodes if there are several, else sockets.
func groupsOf(list []processor, workers int) []int {
	out := make([]int, workers)
	if len(list) == 0 {
		return out
	}
	place := func(p processor) int { return p.node }
	if !slices.ContainsFunc(list, func(p processor) bool { return p.node != list[0].node }) {
		place = func(p processor) int { return p.socket }
	}
	known := map[int]int{}
	for w := range out {
		at := place(list[w%len(list)])
		if _, ok := known[at]; !ok {
			known[at] = len(known)
		}
		out[w] = known[at]
	}
	return out
}
