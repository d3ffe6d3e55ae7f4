package format

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryIsBoundByControlGroups(t *testing.T) {
	const total = "MemTotal:       24567890 kB\nMemFree: 1 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no /proc", nil, unknownMemory},
		{"no groups", map[string]string{"proc/meminfo": total}, 24567890 << 10},
		{"version 2", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "0::/user.slice/a\n", "sys/fs/cgroup/user.slice/a/memory.max": "1048576\n"}, 1 << 20},
		{"no bound", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "0::/user.slice/a\n", "sys/fs/cgroup/user.slice/a/memory.max": "max\n"}, 24567890 << 10},
		{"the group around", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "0::/user.slice/a\n", "sys/fs/cgroup/user.slice/a/memory.max": "4194304\n",
			"sys/fs/cgroup/user.slice/memory.max": "2097152\n"}, 2 << 20},
		{"a container's root", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "0::/../..\n", "sys/fs/cgroup/memory.max": "3145728\n"}, 3 << 20},
		{"version 1", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "5:cpu,cpuacct:/x\n9:memory:/docker/b\n",
			"sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		{"version 1 without a bound", map[string]string{"proc/meminfo": total, "proc/self/cgroup": "9:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 24567890 << 10},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryUnder(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
