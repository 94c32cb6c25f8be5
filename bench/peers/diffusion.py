# SPDX-License-Identifier: Apache-2.0
"""e^{-τL}f. Errors are ‖y − truth‖₂/‖f‖₂.

The truth is a Chebyshev series in long double on [0, 2·max degree], an interval
of its own, whose coefficients e^{-c}I_k(c) come from Miller's recurrence.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import expm_multiply

import common

tau = float(common.arguments[0])


def truth():
    w = common.graph().astype(np.longdouble)
    f = common.read("f.f64").astype(np.longdouble)
    degree = np.asarray(w.sum(axis=1)).ravel()
    half = degree.max()  # L has its spectrum in [0, 2·half]
    c = np.longdouble(tau) * half
    terms = int(np.ceil(10 + c + 9 * np.sqrt(c)) if c < 100 else np.ceil(10 * np.sqrt(c) + 50))
    coefficient = bessel(c, terms)
    previous, current = f, (f - (degree * f - w @ f) / half)  # T_0 f, T_1(1 − L/half) f
    y = coefficient[0] * previous + 2 * coefficient[1] * current
    for k in range(2, terms):
        previous, current = current, 2 * (current - (degree * current - w @ current) / half) - previous
        y += 2 * coefficient[k] * current
    return y


def bessel(c, terms):
    """Returns e^{-c}I_k(c) for k < terms, normalised by I_0 + 2ΣI_k = e^c."""
    start = terms + int(20 + 12 * np.sqrt(float(c) + terms))
    v = np.zeros(start + 2, np.longdouble)
    v[start] = np.longdouble("1e-4000")
    for k in range(start, 0, -1):
        v[k - 1] = v[k + 1] + 2 * k / c * v[k]
    return v[:terms] / (v[0] + 2 * v[1:].sum())


def error(y):
    exact = np.fromfile(common.folder / "truth.ld", np.longdouble)
    f = common.read("f.f64")
    return np.sqrt(((y - exact) ** 2).sum()) / np.linalg.norm(f)


def judge():
    truth().tofile(common.folder / "truth.ld")
    common.answer(error=error(common.read("ours.f64")))


def scipy():
    w, f = common.graph(), common.read("f.f64")

    def work():
        laplacian = sp.diags_array(np.asarray(w.sum(axis=1)).ravel(), format="csr") - w
        return expm_multiply(-tau * laplacian, f)

    cpu, y = common.measured(work)
    common.answer(cpu=cpu, error=error(y))


def pygsp():
    from pygsp import filters, graphs

    w, f = common.graph(), common.read("f.f64")
    goal = error(common.read("ours.f64"))

    def work(order):
        g = graphs.Graph(w)
        g.estimate_lmax()
        return filters.Heat(g, scale=tau * g.lmax).filter(f, method="chebyshev", order=order)

    order, last, now = 15, np.inf, np.inf
    while now > 10 * goal and not now > last / 2:  # until as good as ours, or no better
        order, last = 2 * order, now
        now = error(work(order))
    if now > last / 2:
        order //= 2
    cpu, y = common.measured(lambda: work(order))
    common.answer(cpu=cpu, error=error(y), note=f"order {order}")


common.run({"judge": judge, "scipy": scipy, "pygsp": pygsp})
