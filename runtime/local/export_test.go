package local

// Regroup makes the workers of a pool those of a machine with the given groups.
func Regroup(p *Pool, groups ...int) { p.groups = func() []int { return groups } }
