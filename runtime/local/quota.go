package local

// This file reads the processor quotas of the process's control groups. The Go runtime respects
// them too (runtime.GOMAXPROCS), but never goes below two threads, so that its collector runs
// beside the program. Two workers with one processor's time are stopped for half of each period,
// and so is whoever waits for the stopped one.

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// quota returns how many processors the process may keep busy, 0 without a quota. Tests set root to
// another directory than "/".
func quota(root string) float64 {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	mounts, merr := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil || merr != nil {
		return 0
	}
	least := math.Inf(1)
	for line := range bytes.Lines(mounts) {
		m, ok := controlMount(string(line))
		if !ok {
			continue
		}
		path, ok := m.groupOf(string(groups))
		if !ok {
			continue
		}
		// the limits of all enclosing groups apply too
		for dir := path; ; dir = filepath.Dir(dir) {
			if limit := m.limit(filepath.Join(root, m.point, dir)); limit > 0 {
				least = min(least, limit)
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// within returns workers, or fewer if a quota says so.
func within(workers int, root string) int {
	if q := quota(root); q > 0 {
		return min(workers, max(1, int(math.Ceil(q))))
	}
	return workers
}

// mount is a mount point of a hierarchy of control groups that can limit processor time.
type mount struct {
	top, point string // the group that is at the mount point
	unified    bool   // version 2
}

// controlMount parses a line of mountinfo (proc(5)): id, parent, device, root, mount point,
// options, optional fields, "-", type, source, options of the type.
func controlMount(line string) (m mount, ok bool) {
	head, tail, found := strings.Cut(line, " - ")
	h, t := strings.Fields(head), strings.Fields(tail)
	if !found || len(h) < 5 || len(t) < 1 {
		return m, false
	}
	m = mount{h[3], h[4], t[0] == "cgroup2"}
	return m, m.unified || t[0] == "cgroup" && len(t) > 2 && listed(t[2], "cpu")
}

// groupOf returns the process's group as a path below the mount point, from the lines of
// /proc/self/cgroup: number, controllers, path.
func (m mount) groupOf(groups string) (path string, ok bool) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || m.unified != (f[0] == "0" && f[1] == "") || !m.unified && !listed(f[1], "cpu") {
			continue
		}
		if path, ok = strings.CutPrefix(f[2], strings.TrimSuffix(m.top, "/")); !ok || path != "" && path[0] != '/' {
			path = "" // the mount shows another part: use its top
		}
		return filepath.Clean("/" + path), true
	}
	return "", false
}

// limit returns the processors that a group may use, 0 without a limit.
func (m mount) limit(dir string) float64 {
	read := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil
		}
		return strings.Fields(string(text))
	}
	var f []string
	if m.unified {
		f = read("cpu.max") // quota or "max", and period, in microseconds
	} else {
		f = append(read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")...)
	}
	if len(f) != 2 {
		return 0
	}
	quota, err := strconv.ParseFloat(f[0], 64)
	period, perr := strconv.ParseFloat(f[1], 64)
	if err != nil || perr != nil || !(quota > 0 && period > 0) { // max, or -1
		return 0
	}
	return quota / period
}

// listed reports whether a comma-separated list has a word.
func listed(list, word string) bool {
	return slices.Contains(strings.Split(list, ","), word)
}
