package dist

import (
	"strings"
	"testing"
)

// A rank that dies while the kernel kills for want of memory is told with that; at any other time
// it is not.
func TestDeathForWantOfMemoryIsNamed(t *testing.T) {
	n := int64(3)
	k := killings{count: func() int64 { return n }}
	n = 4
	if got := k.suspected(); got != "" {
		t.Errorf("before it has begun: %q", got)
	}
	k.begin()
	if got := k.suspected(); got != "" {
		t.Errorf("none since then: %q", got)
	}
	n = 5
	k.begin() // by another rank of the process
	if got := k.suspected(); !strings.Contains(got, "memory was exhausted") {
		t.Errorf("one since then: %q", got)
	}
	d := DeathError{Rank: 1, Where: "process 7", Last: "it was last in task 3", Killed: k.suspected()}
	const want = "rank 1 died (process 7); it was last in task 3; meanwhile the kernel has killed a process of this machine because memory was exhausted"
	if d.Error() != want {
		t.Errorf("%q", d.Error())
	}
	l := lostRank{rank: 2, pid: 9, killed: k.suspected()}
	if got := l.failure().Msg; got != "rank 2 died (process 9); meanwhile the kernel has killed a process of this machine because memory was exhausted" {
		t.Errorf("%q", got)
	}
}
