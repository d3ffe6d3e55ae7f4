"""ranks_dask.py kmeans|nbody|pagerank [GRAPH]: the work by Dask distributed on two processes of one thread."""

import sys

import numpy as np
from dask.distributed import Client, LocalCluster, wait

import ranks
from peer import measure

WORKERS = 2


def kmeans(client, blocks, C):
    for _ in range(ranks.KMEANS_ROUNDS):
        done = client.gather([client.submit(ranks.centroid_sums, X, C, pure=False) for X in blocks])
        C = sum(s for s, _ in done) / sum(c for _, c in done)[:, None]
    return C


def nbody(client, P):
    V = np.zeros_like(P)
    ends = [ranks.rows_of(r, WORKERS, len(P)) for r in range(WORKERS)]
    for _ in range(ranks.STEPS):
        V += 1e-3 * np.concatenate(client.gather([client.submit(ranks.pulls, P, lo, hi, pure=False) for lo, hi in ends]))
        P = P + 1e-3 * V
    return P


def pagerank(client, blocks, links, n):
    r = np.full(n, 1 / n)
    ends = [ranks.rows_of(b, WORKERS, n) for b in range(WORKERS)]
    for _ in range(ranks.PAGERANK_ROUNDS):
        there = client.scatter(r, broadcast=True, hash=False)
        r = np.concatenate(client.gather([client.submit(ranks.shares, A, links, there, lo, hi, pure=False) for A, (lo, hi) in zip(blocks, ends)]))
    return r


def spread(client, blocks):
    """Each block on a process of its own."""
    names = list(client.scheduler_info()["workers"])
    there = [client.scatter(b, workers=[names[k % WORKERS]], hash=False) for k, b in enumerate(blocks)]
    wait(there)
    return there


def main():
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, protocol="tcp://", memory_limit=0, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            if sys.argv[1] == "kmeans":
                X = ranks.points()
                blocks = spread(client, np.array_split(X, WORKERS))
                start = X[: ranks.K].copy()
                measure(kmeans, np.sum, lambda: (client, blocks, start))
            elif sys.argv[1] == "nbody":
                measure(nbody, np.sum, lambda: (client, ranks.bodies()))
            else:
                A, links = ranks.web(sys.argv[2])
                n = len(links)
                blocks = spread(client, [A[slice(*ranks.rows_of(b, WORKERS, n))] for b in range(WORKERS)])
                there = client.scatter(links, broadcast=True)
                measure(pagerank, np.max, lambda: (client, blocks, there, n))


if __name__ == "__main__":  # the processes of the cluster import this file
    main()
