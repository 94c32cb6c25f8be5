# SPDX-License-Identifier: Apache-2.0
"""Earth mover's distance under shortest paths. Errors are relative, against the
minimum-cost flow on the graph's edges as a linear programme that HiGHS solves."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra

import common

p, q = common.read("p.f64"), common.read("q.f64")


def judge():
    length = sp.triu(common.graph("length.f64")).tocoo()
    m, n = length.nnz, len(p)
    arcs = np.arange(m)
    incidence = sp.csr_matrix(
        (np.repeat([1.0, -1.0], m), (np.concatenate([length.row, length.col]), np.tile(arcs, 2))), shape=(n, m)
    )
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    flow = linprog(
        np.tile(length.data, 2), A_eq=sp.hstack([incidence, -incidence]), b_eq=p - q,
        method="highs-ds", options=options,
    )
    if not flow.success:
        exit(flow.message)
    np.array([flow.fun]).tofile(common.folder / "truth.f64")
    common.answer(error=error(common.read("ours.f64")[0]))


def error(d):
    exact = common.read("truth.f64")[0]
    return abs(d - exact) / exact


def pot():
    import ot

    distances, cost = common.measured(lambda: dijkstra(common.graph("length.f64"), directed=False), most=1)
    cpu, d = common.measured(lambda: ot.emd2(p, q, cost, numItermax=100_000_000))
    common.answer(cpu=cpu, error=error(d), note=f"without its {distances:.1f} s for all distances")


common.run({"judge": judge, "pot": pot})
