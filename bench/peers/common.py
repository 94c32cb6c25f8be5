# SPDX-License-Identifier: Apache-2.0
"""What the peers' scripts share: arrays and graphs of a folder, timing, answers.

A script is called as SCRIPT FOLDER PEER [ARGUMENT ...] and prints one line of
JSON. The peer "judge" holds our result in the folder against the truth.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

folder, peer, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
TYPES = {"i32": "<i4", "i64": "<i8", "f64": "<f8"}


def read(name):
    """Returns an array that Go wrote; the ending of its name is its type."""
    return np.fromfile(folder / name, TYPES[name.rsplit(".", 1)[1]])


def graph(values="weight.f64"):
    """Returns the graph's symmetric matrix of weights, or of lengths."""
    ptr, adj = read("ptr.i64"), read("adj.i32")
    data = read(values) if (folder / values).exists() else np.ones(len(adj))
    n = len(ptr) - 1
    return sp.csr_matrix((data, adj, ptr), shape=(n, n))


def edges():
    """Returns the ends u < v of every edge, in the order of the rows."""
    a = graph().tocoo()
    upper = a.row < a.col
    return a.row[upper], a.col[upper]


def measured(work, most=11):
    """Repeats work until the budget is spent; returns the median of the CPU seconds
    and a result."""
    budget, times = float(os.environ["BENCH_SECONDS"]), []
    while not times or (sum(times) < budget and len(times) < most):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return float(np.median(times)), result


def answer(**fields):
    """Prints the measure: cpu in seconds, error, note; its peak memory in bytes."""
    if "error" in fields:
        fields["error"] = float(fields["error"])
    fields.setdefault("memory", peak())
    print(json.dumps(fields), flush=True)


def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def keep(**fields):
    """Leaves what the judge measured of a peer that is itself the truth."""
    (folder / "kept.json").write_text(json.dumps({"memory": peak(), **fields}))


def kept():
    return json.loads((folder / "kept.json").read_text())


def run(peers):
    """Runs the peer that was asked for."""
    peers[peer]()
