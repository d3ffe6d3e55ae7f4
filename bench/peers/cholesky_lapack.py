"""cholesky_lapack.py N f64|f32: LAPACK's potrf, as SciPy calls it; the logarithm of the determinant."""

import sys

import numpy as np
from scipy.linalg import lapack

from peer import measure

n, single = int(sys.argv[1]), sys.argv[2] == "f32"
k = np.arange(n)
row = 1 / (1.0 + k)
row[0] += 32


def matrix():
    a = np.empty((n, n), np.float32 if single else np.float64, order="F")
    for j in range(n):
        a[:, j] = row[np.abs(k - j)]
    return (a,)


def work(a):
    potrf = lapack.spotrf if single else lapack.dpotrf
    l, info = potrf(a, lower=1, overwrite_a=1, clean=0)
    if info:
        sys.exit(f"potrf: {info}")
    return l


measure(work, lambda l: 2 * np.log(np.diag(l).astype(float)).sum(), matrix)
