# SPDX-License-Identifier: Apache-2.0
"""max over edges of ‖M(e_i − e_j)‖₂ in double, from all eigenpairs. The error is
the width of our bracket, which must hold the truth up to 1e-11."""

import numpy as np
from scipy.linalg import eigh

import common


def judge():
    w = common.graph().toarray()
    values, vectors = eigh(np.diag(w.sum(axis=1)) - w)
    u, v = common.edges()
    scaled = vectors * np.exp(-float(common.arguments[0]) * values)
    exact = np.sqrt(((scaled[u] - scaled[v]) ** 2).sum(axis=1)).max()
    lower, upper = common.read("ours.f64")
    if lower > exact * (1 + 1e-11) or upper < exact * (1 - 1e-11):
        exit(f"the truth {exact} is not in [{lower}, {upper}]")
    common.answer(error=upper / lower - 1)


common.run({"judge": judge})
