"""components_scipy.py GRAPH: the number of components of a graph (the form of graph.h) by SciPy."""

import sys

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from peer import measure

with open(sys.argv[1], "rb") as f:
    n, m = np.fromfile(f, np.int64, 2)
    start = np.fromfile(f, np.int64, n + 1)
    column = np.fromfile(f, np.int32, m)
g = csr_matrix((np.ones(m), column, start), shape=(n, n))
measure(lambda: connected_components(g, directed=False), lambda r: r[0])
