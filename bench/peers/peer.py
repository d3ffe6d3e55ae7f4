"""What the Python programs beside Flow share: the random numbers of Flow, the clock, the line that is printed."""

import json
import os
import statistics
import time

import numpy as np

REPETITIONS = int(os.environ.get("PEER_REPS", "1"))


def uniform(n, seed):
    """The first n numbers of the stream of a seed, in [0, 1): SplitMix64 (Steele, Lea, Flood 2014) by counter."""
    out = np.empty(n)
    for first in range(0, n, 1 << 20):
        z = np.arange(first + 1, min(first + (1 << 20), n) + 1, dtype=np.uint64)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z ^= z >> np.uint64(shift)
            z *= np.uint64(factor)
        z ^= z >> np.uint64(31)
        out[first : first + len(z)] = (z >> np.uint64(11)) * 2.0**-53
    return out


def measure(work, check, prepare=tuple, together=lambda: True):
    """Does the work once to warm up and REPETITIONS times for the clock; prints the median and check of the last result.

    prepare returns the arguments of the work; its time does not count. In a program of several processes together()
    waits for all of them, and is true in the one that prints.
    """
    took = []
    for turn in range(REPETITIONS + 1):
        arguments = prepare()
        result = None  # what the round before made is gone before this one
        together()
        begun = time.perf_counter()
        result = work(*arguments)
        speaks = together()
        if turn > 0:
            took.append(time.perf_counter() - begun)
        del arguments
    value = float(check(result))
    if speaks:
        print(json.dumps({"seconds": statistics.median(took), "check": value}))
