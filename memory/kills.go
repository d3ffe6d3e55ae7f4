package memory

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kills is how many processes the kernel of this machine has killed for want of memory since it was started, of this or
// any other user, by the machine's memory or a control group's; 0 where the system does not tell. A parent that compares
// it before and after can say why a child that was killed may have been.
func Kills() int64 { return system.kills() }

func (s source) kills() int64 {
	text, err := os.ReadFile(filepath.Join(s.root, "proc/vmstat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64) // 0 where it is no number
			return n
		}
	}
	return 0
}
