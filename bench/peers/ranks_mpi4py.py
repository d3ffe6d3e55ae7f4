"""ranks_mpi4py.py kmeans|nbody|pagerank [GRAPH]: the work by NumPy and SciPy on MPI ranks, each with its rows."""

import sys

import numpy as np
from mpi4py import MPI

import ranks
from peer import measure

comm = MPI.COMM_WORLD
me, size = comm.Get_rank(), comm.Get_size()


def together():
    comm.Barrier()
    return me == 0


def parts(n, width=1):
    """Counts and places of the ranks' parts of n rows."""
    ends = [ranks.rows_of(r, size, n) for r in range(size)]
    return [width * (hi - lo) for lo, hi in ends], [width * lo for lo, _ in ends]


def kmeans(X, C):
    C = C.copy()
    for _ in range(ranks.KMEANS_ROUNDS):
        sums, counts = ranks.centroid_sums(X, C)
        comm.Allreduce(MPI.IN_PLACE, sums)
        comm.Allreduce(MPI.IN_PLACE, counts)
        C = sums / counts[:, None]
    return C


def nbody(P):
    lo, hi = ranks.rows_of(me, size, len(P))
    V = np.zeros((hi - lo, 3))
    where = parts(len(P), 3)
    for _ in range(ranks.STEPS):
        V += 1e-3 * ranks.pulls(P, lo, hi)
        mine = P[lo:hi] + 1e-3 * V
        comm.Allgatherv(mine, [P, where])
    return P


def pagerank(A, links, lo, hi):
    r = np.full(len(links), 1 / len(links))
    where = parts(len(links))
    for _ in range(ranks.PAGERANK_ROUNDS):
        comm.Allgatherv(ranks.shares(A, links, r, lo, hi), [r, where])
    return r


if sys.argv[1] == "kmeans":
    all_points = ranks.points()
    lo, hi = ranks.rows_of(me, size, len(all_points))
    mine, start = all_points[lo:hi].copy(), all_points[: ranks.K].copy()
    del all_points
    measure(kmeans, np.sum, lambda: (mine, start), together)
elif sys.argv[1] == "nbody":
    measure(nbody, np.sum, lambda: (ranks.bodies(),), together)
else:
    A, links = ranks.web(sys.argv[2])
    lo, hi = ranks.rows_of(me, size, len(links))
    A = A[lo:hi]
    measure(pagerank, np.max, lambda: (A, links, lo, hi), together)
