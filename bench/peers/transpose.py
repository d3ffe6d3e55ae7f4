"""transpose.py N: x + t(x) by NumPy; y[17, 42]."""

import sys

from peer import measure, uniform

n = int(sys.argv[1])
x = uniform(n * n, 1).reshape(n, n)
measure(lambda: x + x.T, lambda y: y[17, 42])
