"""learning.py kmeans|linreg: k-means of 1e6 x 20, ten clusters, twenty rounds, or least squares of 2e6 x 50 by normal equations."""

import sys

import numpy as np

from peer import measure, uniform

K, ROUNDS = 10, 20


def kmeans(X):
    C = X[:K].copy()
    for _ in range(ROUNDS):
        at = np.argmin((C**2).sum(axis=1) - 2 * X @ C.T, axis=1)
        count = np.bincount(at, minlength=K)
        C = np.stack([np.bincount(at, weights=X[:, j], minlength=K) for j in range(X.shape[1])], axis=1) / count[:, None]
    return C


def linreg(X, y):
    return np.linalg.solve(X.T @ X, X.T @ y)


if sys.argv[1] == "kmeans":
    points = uniform(1_000_000 * 20, 3).reshape(-1, 20)
    measure(kmeans, np.sum, lambda: (points,))
else:
    rows = 2_000_000
    data = uniform(rows * 50, 4).reshape(rows, 50)
    target = data @ np.arange(1.0, 51) + 0.01 * (uniform(rows, 9) - 0.5)
    measure(linreg, np.sum, lambda: (data, target))
