"""cholesky_dask.py N f64|f32 CHUNK: Cholesky of a Dask array on two processes of one thread; the logarithm of the determinant."""

import sys

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, wait

from peer import measure


def main():
    n, elem, chunk = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    dtype = np.float32 if elem == "f32" else np.float64

    def block(block_info=None):
        (r0, r1), (c0, c1) = block_info[None]["array-location"]
        d = np.abs(np.arange(r0, r1)[:, None] - np.arange(c0, c1))
        return (1 / (1.0 + d) + 32 * (d == 0)).astype(dtype)

    with LocalCluster(n_workers=2, threads_per_worker=1, protocol="tcp://", memory_limit=0, dashboard_address=None) as cluster:
        with Client(cluster):
            sizes = tuple(min(chunk, n - k) for k in range(0, n, chunk))
            turn = [0]

            def matrix():
                turn[0] += 1  # a name of its own each time: the scheduler answers from what it has
                a = da.map_blocks(block, chunks=(sizes, sizes), dtype=dtype, name=f"matrix-{turn[0]}").persist()
                wait(a)
                return (a,)

            def work(a):
                l = da.linalg.cholesky(a, lower=True).persist()
                wait(l)
                return l

            measure(work, lambda l: 2 * np.log(da.diag(l).astype(float)).sum().compute(), matrix)


if __name__ == "__main__":  # the processes of the cluster import this file
    main()
