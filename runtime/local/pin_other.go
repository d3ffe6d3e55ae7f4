//go:build !linux

package local

// processors knows none where the system has no call for it; then workers are not pinned.
func processors() []int { return nil }

func pin(int) bool { return false }
