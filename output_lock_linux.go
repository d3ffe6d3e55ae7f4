package flow

import (
	"os"
	"slices"
	"syscall"
)

// localSystems are the numbers of file systems whose locks are shared by all processes that see
// them: ext, XFS, Btrfs, tmpfs, overlayfs, ZFS, F2FS (linux/magic.h).
var localSystems = []int64{0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010}

// onOneMachine reports whether a directory is known to be on a file system that no other machine
// mounts.
func onOneMachine(d *os.File) bool {
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(d.Fd()), &s) == nil && slices.Contains(localSystems, int64(s.Type))
}
