package local

import "golang.org/x/sys/unix"

// pin binds the calling thread to the i-th processor (in turn) that the process may use.
func pin(i int) bool {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(unix.Getpid(), &all) != nil || all.Count() == 0 {
		return false
	}
	i %= all.Count()
	for cpu := 0; ; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if i == 0 {
			one.Set(cpu)
			return unix.SchedSetaffinity(0, &one) == nil
		}
		i--
	}
}
