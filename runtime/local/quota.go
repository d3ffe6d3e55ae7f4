package local

// This file reads how much processor time the process has by the quotas of its control groups. The
// Go runtime heeds them too (runtime.GOMAXPROCS), but never goes below two threads, so that its
// garbage collector runs beside the program: two workers in the time of one processor are stopped
// for half of each period, and whoever waits for the one that is stopped is stopped as well.

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// quota is how many processors the process may keep busy, 0 if nothing says. Root is where the
// system's files are, "/" but in tests.
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
		for dir := path; ; dir = filepath.Dir(dir) { // the limits of all groups around hold too
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

// within is so many workers, or fewer if a quota says so.
func within(workers int, root string) int {
	if q := quota(root); q > 0 {
		return min(workers, max(1, int(math.Ceil(q))))
	}
	return workers
}

// mount is where a hierarchy of control groups is to be seen that can limit processor time.
type mount struct {
	top, point string // the group that is at the mount point
	unified    bool   // version 2
}

// controlMount reads a line of mountinfo (proc(5)): id, parent, device, root, mount point, options,
// optional fields, "-", type, source, options of the type.
func controlMount(line string) (m mount, ok bool) {
	head, tail, found := strings.Cut(line, " - ")
	h, t := strings.Fields(head), strings.Fields(tail)
	if !found || len(h) < 5 || len(t) < 1 {
		return m, false
	}
	m = mount{h[3], h[4], t[0] == "cgroup2"}
	return m, m.unified || t[0] == "cgroup" && len(t) > 2 && listed(t[2], "cpu")
}

// groupOf is the path below the mount point of the group that the process is in, found in the lines
// of /proc/self/cgroup: number, controllers, path.
func (m mount) groupOf(groups string) (path string, ok bool) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || m.unified != (f[0] == "0" && f[1] == "") || !m.unified && !listed(f[1], "cpu") {
			continue
		}
		if path, ok = strings.CutPrefix(f[2], strings.TrimSuffix(m.top, "/")); !ok || path != "" && path[0] != '/' {
			path = "" // the mount shows something else: what it shows at its top is all there is
		}
		return filepath.Clean("/" + path), true
	}
	return "", false
}

// limit is the processors that a group may use, 0 if it says nothing.
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

// listed says whether a list with commas has a word.
func listed(list, word string) bool {
	return slices.Contains(strings.Split(list, ","), word)
}
