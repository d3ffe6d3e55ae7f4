"""learning_dask.py kmeans|linreg: the work of learning.py by Dask on two threads: k-means by delayed functions, one for each of
eight blocks of rows, least squares by arrays."""

import sys

import dask
import dask.array as da
import numpy as np

from peer import measure, uniform

K, ROUNDS, BLOCKS = 10, 20, 8
dask.config.set(scheduler="threads", num_workers=2)


@dask.delayed
def part(X, C):
    at = np.argmin((C**2).sum(axis=1) - 2 * X @ C.T, axis=1)
    sums = np.stack([np.bincount(at, weights=X[:, j], minlength=K) for j in range(X.shape[1])], axis=1)
    return sums, np.bincount(at, minlength=K)


def kmeans(blocks):
    C = blocks[0][:K].copy()
    for _ in range(ROUNDS):
        parts = dask.compute(*[part(X, C) for X in blocks])
        C = sum(s for s, _ in parts) / sum(c for _, c in parts)[:, None]
    return C


def linreg(X, y):
    return np.linalg.solve(*dask.compute(X.T @ X, X.T @ y))


if sys.argv[1] == "kmeans":
    points = np.array_split(uniform(1_000_000 * 20, 3).reshape(-1, 20), BLOCKS)
    measure(kmeans, np.sum, lambda: (points,))
else:
    rows = 2_000_000
    data = uniform(rows * 50, 4).reshape(rows, 50)
    target = data @ np.arange(1.0, 51) + 0.01 * (uniform(rows, 9) - 0.5)
    chunk = rows // BLOCKS
    measure(linreg, np.sum, lambda: (da.from_array(data, (chunk, 50)), da.from_array(target, chunk)))
