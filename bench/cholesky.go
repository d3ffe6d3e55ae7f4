package main

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// This file defines the sections about tiled Cholesky.

// peerTiles are the tile sizes that peers try.
var peerTiles = [...]int{128, 256, 512, 1024}

// program returns the path of one of the programs beside this file.
func (b *bench) program(name string) string { return filepath.Join(b.root, "bench", name) }

// flowCholesky is Flow's local run of order n; nb 0 means the default tile.
func (b *bench) flowCholesky(label string, n int, elem string, nb int) contestant {
	return contestant{name: label, run: func() (float64, error) {
		return callSeconds("cholesky", nil, b.flowrun, b.program("cholesky_twice.flow"), "--threads=2",
			fmt.Sprintf("--set=n=%d", n), "--set=elem="+elem, fmt.Sprintf("--set=nb=%d", nb))
	}}
}

func choleskyWork(n int) float64 { return float64(n) * float64(n) * float64(n) / 3 }

// matrices visits the orders of -n in both element types that -match selects.
func (b *bench) matrices(visit func(n int, elem string) error) error {
	match, err := regexp.Compile(b.match)
	if err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	for _, n := range b.sizes {
		for _, elem := range []string{"f64", "f32"} {
			if !match.MatchString(fmt.Sprintf("%d, %s", n, elem)) {
				continue
			}
			if err := visit(n, elem); err != nil {
				return err
			}
		}
	}
	return nil
}

func cholesky(b *bench) error {
	return b.matrices(func(n int, elem string) error {
		var omp, starpu []contestant
		for _, t := range peerTiles {
			label := fmt.Sprintf("tile %d", t)
			omp = append(omp, b.peers.peer(label, "cholesky_omp_"+elem, peerEnv(), fmt.Sprint(n), fmt.Sprint(t)))
			starpu = append(starpu, b.peers.peer(label, "cholesky_starpu_"+elem, peerEnv(), fmt.Sprint(n), fmt.Sprint(t)))
		}
		b.table(fmt.Sprintf("n = %d, %s, two threads", n, elem), choleskyWork(n), contest(b.reps, []contestant{
			b.flowCholesky("Flow, no C library, default tile", n, elem, 0),
			b.peers.script("OpenBLAS potrf", "cholesky_lapack.py", peerEnv("OPENBLAS_NUM_THREADS=2"), fmt.Sprint(n), elem),
			best("OpenMP tasks on OpenBLAS", omp),
			best("StarPU on OpenBLAS", starpu),
		}))
		return nil
	})
}

func ranks(b *bench) error {
	if b.mpi == "" {
		b.skip("flowrun with MPI did not build; `.ci/setup` installs what it needs")
		return nil
	}
	return b.matrices(func(n int, elem string) error {
		b.table(fmt.Sprintf("n = %d, %s, two ranks", n, elem), choleskyWork(n), contest(b.reps, []contestant{
			{name: "Flow, MPI, one thread a rank", run: func() (float64, error) {
				return callSeconds("cholesky", peerEnv(), b.mpi, b.program("cholesky_twice.flow"), "--distributed", "--backend=mpi",
					"--ranks=2", "--threads=1", fmt.Sprintf("--set=n=%d", n), "--set=elem="+elem)
			}},
			best("ScaLAPACK", []contestant{
				b.peers.onRanks("block 64", "cholesky_scalapack_"+elem, 2, fmt.Sprint(n), "64", "1"),
				b.peers.onRanks("block 128", "cholesky_scalapack_"+elem, 2, fmt.Sprint(n), "128", "1"),
				b.peers.onRanks("block 256", "cholesky_scalapack_"+elem, 2, fmt.Sprint(n), "256", "1"),
			}),
			best("Dask distributed", []contestant{
				b.peers.script("chunk 512", "cholesky_dask.py", peerEnv(), fmt.Sprint(n), elem, "512"),
				b.peers.script("chunk 1024", "cholesky_dask.py", peerEnv(), fmt.Sprint(n), elem, "1024"),
			}),
		}))
		return nil
	})
}
