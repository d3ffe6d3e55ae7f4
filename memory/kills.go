package memory

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kills returns how many processes of any user the kernel has killed for lack of memory since boot,
// by the machine's or a control group's limit; 0 if the system does not tell. A parent compares it
// before and after to guess why a child was killed.
func Kills() int64 { return system.kills() }

func (s source) kills() int64 {
	text, err := os.ReadFile(filepath.Join(s.root, "proc/vmstat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			// 0 where it is no number
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}
