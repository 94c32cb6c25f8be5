# SPDX-License-Identifier: Apache-2.0
"""min 1ᵀf subject to 0 ≤ f ≤ 1 and ‖Mf − y‖₂ ≤ η.

The error of an answer f with dual vector z is the largest of its relative gap to
the dual bound yᵀz − η‖z‖ + Σ min(0, 1 − Mᵀz), the excess of ‖Mf − y‖ over η
relative to η, and the excess of f over its bounds.
"""

import numpy as np
import scipy.sparse as sp

import common

y, eta = common.read("y.f64"), common.read("eta.f64")[0]
m = common.read("m.f64").reshape(len(y), -1)
n = m.shape[1]


def bound(z):
    exact, z = m.astype(np.longdouble), z.astype(np.longdouble)
    return y @ z - eta * np.sqrt(z @ z) + np.minimum(0, 1 - exact.T @ z).sum()


def error(f, z):
    exact = m.astype(np.longdouble)
    lower, mass = bound(z), f.sum()
    residual = exact @ f - y
    return max(
        abs(mass - lower) / max(mass, lower),
        np.sqrt(residual @ residual) / eta - 1,
        -f.min(),
        f.max() - 1,
    )


def best_scale(r):
    """Returns the z = t·r of the largest dual bound: t is 0 or a corner 1/(Mᵀr)_j."""
    c = m.T @ r
    scales = np.append(0, 1 / c[c > 0])
    values = [t * (y @ r - eta * np.linalg.norm(r)) + np.minimum(0, 1 - t * c).sum() for t in scales]
    return r * scales[np.argmax(values)]


def judge():
    common.answer(error=error(common.read("f.f64"), common.read("z.f64")))


def clarabel():
    import clarabel as cl

    settings = cl.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    none = sp.csc_matrix((1, n))
    eye = sp.identity(n, format="csc")
    a = sp.vstack([-eye, eye, none, sp.csc_matrix(m)], format="csc")
    b = np.concatenate([np.zeros(n), np.ones(n), [eta], y])
    cones = [cl.NonnegativeConeT(2 * n), cl.SecondOrderConeT(len(y) + 1)]

    def work():
        return cl.DefaultSolver(sp.csc_matrix((n, n)), np.ones(n), a, b, cones, settings).solve()

    cpu, s = common.measured(work)
    z = -np.array(s.z)[2 * n + 1 :]
    common.answer(cpu=cpu, error=error(np.array(s.x), z), note=str(s.status))


def spgl1(**tolerances):
    import spgl1 as sl

    def work():
        return sl.spg_bpdn(
            m, y, eta,
            project=sl.norm_l1nn_project, primal_norm=sl.norm_l1nn_primal, dual_norm=sl.norm_l1nn_dual,
            **tolerances,
        )

    cpu, (f, residual, _, _) = common.measured(work)
    over = np.linalg.norm(m @ f - y) / eta - 1
    common.answer(cpu=cpu, error=error(f, best_scale(residual)), note=f"residual {100 * over:+.2g} % of η")


def tight():
    spgl1(opt_tol=1e-9, bp_tol=1e-9, ls_tol=1e-9, dec_tol=1e-9, iter_lim=100_000)


common.run({"judge": judge, "clarabel": clarabel, "spgl1": spgl1, "spgl1-tight": tight})
