package local

import (
	"os"
	"path/filepath"
	"testing"
)

// A quota is found in both versions of control groups, in the process's own group and in those
// around it, and where a container shows a part of the tree.
func TestQuota(t *testing.T) {
	const (
		v2   = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1   = "31 23 0:27 /docker/7 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		home = "25 1 8:1 / / rw - ext4 /dev/sda rw\n"
	)
	for name, c := range map[string]struct {
		mounts, groups string
		files          map[string]string
		want           float64
	}{
		"nothing":           {home, "0::/\n", nil, 0},
		"no quota":          {home + v2, "0::/a\n", map[string]string{"sys/fs/cgroup/a/cpu.max": "max 100000"}, 0},
		"own":               {home + v2, "0::/a/b\n", map[string]string{"sys/fs/cgroup/a/b/cpu.max": "150000 100000"}, 1.5},
		"around":            {home + v2, "0::/a/b\n", map[string]string{"sys/fs/cgroup/a/b/cpu.max": "300000 100000", "sys/fs/cgroup/a/cpu.max": "50000 100000"}, .5},
		"at the top":        {v2, "0::/\n", map[string]string{"sys/fs/cgroup/cpu.max": "200000 100000"}, 2},
		"version 1":         {v1, "7:memory:/x\n4:cpu,cpuacct:/docker/7/job\n", map[string]string{"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "50000", "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "25000"}, 2},
		"another container": {v1, "4:cpu,cpuacct:/docker/70\n", map[string]string{"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "50000"}, 1},
		"version 1, none":   {v1, "4:cpu,cpuacct:/docker/7\n", map[string]string{"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "50000"}, 0},
		"both":              {v2 + v1, "0::/a\n4:cpu,cpuacct:/docker/7\n", map[string]string{"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "75000", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "25000"}, 3},
		"damage":            {"- cgroup2\n1 2 3 - cgroup2\n" + v2, ":\n0::/a\n", map[string]string{"sys/fs/cgroup/a/cpu.max": "0 0\n", "sys/fs/cgroup/cpu.max": "x"}, 0},
	} {
		root := t.TempDir()
		write := func(path, text string) {
			file := filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("proc/self/cgroup", c.groups)
		write("proc/self/mountinfo", c.mounts)
		for path, text := range c.files {
			write(path, text)
		}
		if got := quota(root); got != c.want {
			t.Errorf("%s: %g processors, want %g", name, got, c.want)
		}
		if got := within(4, root); c.want > 0 && c.want <= 1 && got != 1 || c.want == 0 && got != 4 || c.want == 1.5 && got != 2 {
			t.Errorf("%s: %d workers of 4", name, got)
		}
	}
	if got := quota(t.TempDir()); got != 0 {
		t.Errorf("where nothing is told: %g", got)
	}
}
