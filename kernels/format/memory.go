package format

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// This file finds how much memory a process may use.

// unknownMemory is what a matrix may take on a system that does not tell its memory: any 48-bit address.
const unknownMemory = 1 << 48

// Memory is the main memory that this process may use, in bytes: the machine's, where /proc tells it, or less where control groups
// set a bound, as those of containers do.
func Memory() int64 { return memoryUnder("/") }

// memoryUnder is Memory of a system whose root is a folder.
func memoryUnder(root string) int64 {
	have := machineMemory(root)
	for _, dir := range controlGroups(root) {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} { // of versions 2 and 1
			text, err := os.ReadFile(filepath.Join(root, dir, file))
			if err != nil {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" is no bound
				have = min(have, n)
			}
		}
	}
	return have
}

func machineMemory(root string) int64 {
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return unknownMemory
	}
	fields := strings.Fields(string(text)) // "MemTotal:  24567890 kB ..."
	if len(fields) < 2 || fields[0] != "MemTotal:" {
		return unknownMemory
	}
	kib, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || kib > math.MaxInt64>>10 {
		return unknownMemory
	}
	return kib << 10
}

// controlGroups is the folders of the control groups that bound this process's memory: its own and those around it. A process in a
// container may see its own group at the root of the file system of groups, whatever it is told of its path; that is one of them.
func controlGroups(root string) (dirs []string) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path; cgroups(7)
		if len(part) != 3 {
			continue
		}
		mount := ""
		switch {
		case part[0] == "0" && part[1] == "":
			mount = "sys/fs/cgroup"
		case strings.Contains(","+part[1]+",", ",memory,"):
			mount = "sys/fs/cgroup/memory"
		default:
			continue
		}
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			if dirs = append(dirs, mount+at); at == "/" {
				break
			}
		}
	}
	return dirs
}
