//go:build !linux

package local

import "time"

// processors returns none on systems without the call. Workers are then not pinned.
func processors() []int { return nil }

func pin(int) bool { return false }

func thisThread() int { return 0 }

// threadTime returns 0: threads have no clocks here.
func threadTime(int) time.Duration { return 0 }
