//go:build !linux

package transport

import "time"

func nap(d time.Duration) { time.Sleep(d) }
