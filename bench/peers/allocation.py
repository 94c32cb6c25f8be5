# SPDX-License-Identifier: Apache-2.0
"""max wᵀu subject to Σ_s D_es²u_s ≤ 1 for every edge and u ≥ 0, all rows at once.

w_s = Σ over pairs of communities of (mean_a M_s· − mean_b M_s·)². The error is
the relative distance of our objective from HiGHS's optimum, which must lie between
ours and its proven limit.
"""

import numpy as np
from scipy.optimize import linprog

import common


def programme():
    labels = common.read("labels.i64")
    n = len(labels)
    m = common.read("m.f64").reshape(-1, n)
    means = np.array([m[:, labels == a].mean(axis=1) for a in range(labels.max() + 1)])
    w = len(means) * ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    u, v = common.edges()
    return w, ((m[:, u] - m[:, v]) ** 2).T


def highs():
    w, a = programme()
    unit = 1 / a.max(axis=0)  # x_s = u_s/unit_s is at most 1
    c = w * unit / (w * unit).max()
    cpu, s = common.measured(lambda: linprog(-c, A_ub=a * unit, b_ub=np.ones(len(a)), method="highs"))
    if not s.success:
        exit(s.message)
    return cpu, -s.fun * (w * unit).max()


def judge():
    cpu, optimum = highs()
    common.keep(cpu=cpu)
    value, limit = common.read("ours.f64")
    if value > optimum * (1 + 1e-6) or limit < optimum * (1 - 1e-6):  # HiGHS's tolerance is 1e-7
        exit(f"HiGHS's optimum {optimum} is not in [{value}, {limit}]")
    common.answer(error=abs(1 - value / optimum))


def report():
    common.answer(error=0, **common.kept())


common.run({"judge": judge, "highs": report})
