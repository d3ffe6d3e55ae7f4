package transport

import (
	"syscall"
	"time"
)

// nap sleeps in the system: a timer of Go takes 1.1 ms at least in a process that is idle otherwise,
// because Go waits for its timers in whole milliseconds. A signal may end the sleep early.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
