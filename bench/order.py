"""What order.flow does, in NumPy: order.py WHAT N prints the seconds that the operator took as a line of JSON."""

import json
import sys
import time

import numpy as np

what, n = sys.argv[1], int(float(sys.argv[2]))
rng = np.random.default_rng(1)
x = rng.random(n)
at = rng.integers(0, n, n)
z = x.reshape(n // 50, 50)
operators = {
    "sort": lambda: np.sort(x),
    "argsort": lambda: np.argsort(x, kind="stable"),
    "unique": lambda: np.unique(x),
    "median": lambda: np.median(x),
    "take": lambda: x[at],
    "colmedian": lambda: np.median(z, axis=0),
    "rowmedian": lambda: np.median(z, axis=1),
    "cumsum": lambda: np.cumsum(z, axis=0),
}
start = time.perf_counter()
operators[what]()
print(json.dumps({"peer": "numpy", "workload": what, "seconds": time.perf_counter() - start}))
