//go:build !linux

package dist

// Without /proc processes are not checked: only the launcher reports a death.

func processStart(int) (start string, alive bool) { return "", true }

func processSpace() string { return "" }

func affinity() cpus { return cpus{} }
