package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// This file builds and runs the peers.

// peers is the folder of the peers' sources and binaries.
type peers struct {
	source, build string
}

// peerEnv returns the environment of the peers: two threads in all, priorities on, no threads
// inside BLAS.
func peerEnv(extra ...string) []string {
	return append([]string{"PEER_REPS=1", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=2", "OMP_PROC_BIND=true",
		"OMP_MAX_TASK_PRIORITY=3", "STARPU_NCPU=2", "STARPU_SILENT=1", "STARPU_SCHED=lws",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, extra...)
}

// bestBLAS sets up OpenBLAS for all that call it: it drops the environment's settings and keeps the
// fastest of OpenBLAS's own choice of kernels and two others. Debian 12's misidentifies newer
// processors and then runs at half its speed; a peer is measured at its best.
func (p peers) bestBLAS() (chosen string, err error) {
	const kernels = "OPENBLAS_CORETYPE"
	for _, name := range []string{kernels, "OPENBLAS_L2_SIZE"} {
		if err := os.Unsetenv(name); err != nil {
			return "", err
		}
	}
	trial := func(set ...string) (float64, error) {
		env := peerEnv(append(set, "OPENBLAS_NUM_THREADS=1", "PEER_REPS=3")...)
		return peerSeconds(env, "/usr/bin/python3", filepath.Join(p.source, "cholesky_lapack.py"), "3072", "f64")
	}
	least, err := trial()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"SKYLAKEX", "HASWELL"} {
		if sec, err := trial(kernels + "=" + name); err == nil && sec < 0.95*least {
			chosen, least = name, sec
		}
	}
	if chosen != "" {
		err = os.Setenv(kernels, chosen)
	}
	return chosen, err
}

// findPeers builds what can be built of bench/peers. Libraries may be missing.
func findPeers(root string) peers {
	p := peers{source: filepath.Join(root, "bench", "peers")}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	p.build = filepath.Join(cache, "flow-bench", "build")
	// Keep going: a peer whose library is missing must not stop the others.
	cmd := exec.Command("make", "-k", "B="+p.build)
	cmd.Dir = p.source
	_ = cmd.Run() // a missing peer is noticed when it is needed
	return p
}

// binary returns the path of a built peer.
func (p peers) binary(name string) (string, error) {
	path := filepath.Join(p.build, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("peer %s is not built: install its libraries (%s)", name, filepath.Join(p.source, "README.md"))
	}
	return path, nil
}

// figure is the used part of a peer's JSON line.
type figure struct {
	Seconds float64 `json:"seconds"`
}

// peer is a contestant that runs a built peer.
func (p peers) peer(label, binary string, env []string, args ...string) contestant {
	return contestant{name: label, run: func() (float64, error) {
		path, err := p.binary(binary)
		if err != nil {
			return 0, err
		}
		return peerSeconds(env, path, args...)
	}}
}

// script is a contestant that runs a peer in Debian's Python, which has the packages.
func (p peers) script(label, file string, env []string, args ...string) contestant {
	return contestant{name: label, run: func() (float64, error) {
		return peerSeconds(env, "/usr/bin/python3", append([]string{filepath.Join(p.source, file)}, args...)...)
	}}
}

// onRanks is a contestant that runs a built peer on MPI ranks.
func (p peers) onRanks(label, binary string, ranks int, args ...string) contestant {
	return contestant{name: label, run: func() (float64, error) {
		path, err := p.binary(binary)
		if err != nil {
			return 0, err
		}
		return peerSeconds(peerEnv(), "mpirun", append([]string{"-n", fmt.Sprint(ranks), "--oversubscribe", path}, args...)...)
	}}
}

// scriptOnRanks is a contestant that runs a Python peer on MPI ranks.
func (p peers) scriptOnRanks(label, file string, ranks int, args ...string) contestant {
	return contestant{name: label, run: func() (float64, error) {
		return peerSeconds(peerEnv(), "mpirun", append([]string{"-n", fmt.Sprint(ranks), "--oversubscribe", "/usr/bin/python3", filepath.Join(p.source, file)}, args...)...)
	}}
}

func peerSeconds(env []string, name string, args ...string) (float64, error) {
	o, err := launch(env, name, args...)
	if err != nil {
		return 0, err
	}
	var f figure
	if err := lastJSON(o.stdout, &f); err != nil {
		return 0, err
	}
	return f.Seconds, nil
}

// best runs the variants once each and keeps the fastest. The scan happens in the warm-up round.
func best(label string, variants []contestant) contestant {
	var won contestant
	var failed error
	scanned := false
	return contestant{
		name: label,
		run: func() (float64, error) {
			if !scanned {
				scanned = true
				least := 0.0
				for _, v := range variants {
					sec, err := v.run()
					if err != nil {
						failed = err
					} else if won.run == nil || sec < least {
						won, least = v, sec
					}
				}
			}
			if won.run == nil {
				return 0, failed
			}
			return won.run()
		},
		chosen: func() string { return won.name },
	}
}
