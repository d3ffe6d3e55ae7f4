"""fused.py numpy|numexpr|numba sum|y N [THREADS]: y = sqrt(a x + b) c - d over N numbers; the sum of y, or all of y."""

import sys

import numpy as np

from peer import measure

what, mode, n = sys.argv[1], sys.argv[2], int(float(sys.argv[3]))
threads = int(sys.argv[4]) if len(sys.argv) > 4 else 2
x = (np.arange(n) + 0.5) / n
keep = mode == "y"


def by_numpy():
    y = np.sqrt(1.5 * x + 0.25) * 2.0 - 0.125
    return y.sum(), y


def by_numexpr():
    import numexpr

    numexpr.set_num_threads(threads)
    if keep:
        y = numexpr.evaluate("sqrt(1.5 * x + 0.25) * 2.0 - 0.125")
        return y.sum(), y
    return numexpr.evaluate("sum(sqrt(1.5 * x + 0.25) * 2.0 - 0.125)"), None


def by_numba():
    import numba

    numba.set_num_threads(threads)

    @numba.njit(parallel=True, fastmath=True)
    def total(x):
        s = 0.0
        for i in numba.prange(len(x)):
            s += np.sqrt(1.5 * x[i] + 0.25) * 2.0 - 0.125
        return s

    @numba.njit(parallel=True, fastmath=True)
    def stored(x, y):
        s = 0.0
        for i in numba.prange(len(x)):
            y[i] = np.sqrt(1.5 * x[i] + 0.25) * 2.0 - 0.125
            s += y[i]
        return s

    y = np.empty(n if keep else 0)
    return lambda: (stored(x, y), y) if keep else (total(x), None)


work = {"numpy": lambda: by_numpy, "numexpr": lambda: by_numexpr, "numba": by_numba}[what]()
measure(work, lambda r: r[0])
