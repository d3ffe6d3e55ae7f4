"""NumPy's side of the section operators: reads {"inputs": [[name, expression]], "operators": [[name, expression]], "reps": k}
as JSON, does each operator once and then k times, and prints {"name": [seconds, ...]} as a line of JSON.

An operator that fails, for want of a package say, is left out with its reason as a string.
"""

import json
import sys
import time
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.filterwarnings("ignore")
job = json.load(sys.stdin)
names = {"np": np, "rng": np.random.default_rng(1)}
for package in ["scipy.sparse", "scipy.special", "scipy.linalg"]:
    try:
        names[package.partition(".")[2]] = __import__(package, fromlist=["_"])
    except ImportError:
        pass
for name, expression in job["inputs"]:
    names[name] = eval(expression, names)

seconds = {}
for name, expression in job["operators"]:
    call = eval("lambda: " + expression, names)
    taken = []
    try:
        for _ in range(job["reps"] + 1):
            start = time.perf_counter()
            call()  # what it made is freed after the clock is read
            taken.append(time.perf_counter() - start)
    except Exception as e:
        taken = [None, "%s: %s" % (type(e).__name__, e)]
    seconds[name] = taken[1:]
print(json.dumps(seconds))
