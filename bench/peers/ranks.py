"""What ranks_mpi4py.py and ranks_dask.py compute: k-means, n-body and PageRank, each for some rows of the result."""

import numpy as np
from scipy.sparse import csr_matrix

from peer import uniform

# The sizes of bench/kmeans.flow, bench/nbody.flow and bench/pagerank.flow.
POINTS, COLUMNS, K, KMEANS_ROUNDS = 1_000_000, 20, 10, 20
BODIES, STEPS = 2000, 100
PAGERANK_ROUNDS = 50


def rows_of(rank, ranks, n):
    """The rows of a rank: first, and one behind the last."""
    return n * rank // ranks, n * (rank + 1) // ranks


def points():
    return uniform(POINTS * COLUMNS, 3).reshape(POINTS, COLUMNS)


def centroid_sums(X, C):
    """Sums and counts of the rows of X by their nearest row of C."""
    at = np.argmin((C**2).sum(axis=1) - 2 * X @ C.T, axis=1)
    sums = np.stack([np.bincount(at, weights=X[:, j], minlength=K) for j in range(X.shape[1])], axis=1)
    return sums, np.bincount(at, minlength=K).astype(float)


def bodies():
    return np.ascontiguousarray(uniform(3 * BODIES, 5).reshape(3, BODIES).T)


def pulls(P, lo, hi):
    """The accelerations of bodies lo to hi, by blocks of rows that a cache holds."""
    A = np.empty((hi - lo, 3))
    for i in range(lo, hi, 16):
        D = P[None, :, :] - P[i : min(i + 16, hi), None, :]
        r2 = (D * D).sum(axis=2) + 1e-2
        A[i - lo : min(i + 16, hi) - lo] = np.einsum("ij,ijk->ik", 1 / (r2 * np.sqrt(r2)), D) / len(P)
    return A


def web(path):
    """The links of a graph (the form of graph.h) by their target, as weights, and the number of links out of each page."""
    with open(path, "rb") as f:
        n, m = np.fromfile(f, np.int64, 2)
        start = np.fromfile(f, np.int64, n + 1)
        column = np.fromfile(f, np.int32, m)
    return csr_matrix((np.ones(m), column, start), shape=(n, n)).T.tocsr(), np.diff(start).astype(float)


def shares(A, links, r, lo, hi):
    """One round of PageRank for rows lo to hi, of which A has the links."""
    n = len(links)
    lost = r[links == 0].sum()
    return 0.85 * (A @ (r / np.maximum(links, 1)) + lost / n) + 0.15 / n
