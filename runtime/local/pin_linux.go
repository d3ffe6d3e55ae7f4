package local

import (
	"time"

	"golang.org/x/sys/unix"
)

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

// thisThread returns the number of the calling thread.
func thisThread() int { return unix.Gettid() }

// threadTime returns the processor time that a thread of this process has used; 0 if the thread has
// ended. The clock is that of pthread_getcpuclockid: ^thread<<3, with the bits for a thread and for
// time in the scheduler.
func threadTime(thread int) time.Duration {
	const ofThread, ofScheduler = 4, 2
	var t unix.Timespec
	if unix.ClockGettime(int32(^thread<<3|ofThread|ofScheduler), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
