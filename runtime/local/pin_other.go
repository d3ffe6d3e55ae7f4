//go:build !linux

package local

// processors returns none on systems without the call. Workers are then not pinned.
func processors() []int { return nil }

func pin(int) bool { return false }
