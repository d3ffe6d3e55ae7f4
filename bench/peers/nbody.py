"""nbody.py N STEPS THREADS: all-pairs gravity by symplectic Euler in numba; the sum of the positions."""

import sys

import numba
import numpy as np

from peer import measure, uniform

n, steps, threads = map(int, sys.argv[1:4])
numba.set_num_threads(threads)
start = uniform(3 * n, 5).reshape(3, n)


@numba.njit(parallel=True, fastmath=True)
def pulls(p, a):
    n = p.shape[1]
    for i in numba.prange(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
            r2 = dx * dx + dy * dy + dz * dz + 1e-2
            f = 1 / (r2 * np.sqrt(r2))
            ax += f * dx
            ay += f * dy
            az += f * dz
        a[0, i], a[1, i], a[2, i] = ax / n, ay / n, az / n


def work(p, v, a):
    for _ in range(steps):
        pulls(p, a)
        v += 1e-3 * a
        p += 1e-3 * v
    return p


measure(work, np.sum, lambda: (start.copy(), np.zeros_like(start), np.empty_like(start)))
