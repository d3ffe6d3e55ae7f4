package local

import "golang.org/x/sys/unix"

// processors lists those that the calling thread may use. It must not ask for the process, whose
// main thread may be a pinned worker.
func processors() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var list []int
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// pin binds the calling thread to one processor.
func pin(cpu int) bool {
	var one unix.CPUSet
	one.Set(cpu)
	return unix.SchedSetaffinity(0, &one) == nil
}
