//go:build !linux || !amd64

package launch

import "flow/ir/loop"

func machineTargets() []string { return nil }

func compiled(n *loop.Nest, _ layout, _ int) (executable, error) { return interpretedCode(n) }
