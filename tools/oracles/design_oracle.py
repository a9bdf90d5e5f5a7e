"""Reference values for noise designs (Spec §9), by a conic solver.

  design_oracle.py OUT.json [SEED]        the committed file has the default seed

The problems are written as they are stated, over the covariance itself, and given to CVXPY with Clarabel, an
interior-point solver: no dual weights, no square roots of matrices, nothing of the library's own solution.
Values are good to about 1e-8, which is why this file regenerates to 1e-6 and not to the last digit.
"""

import sys
import warnings

import clarabel
import common
import cvxpy as cp
import numpy as np

RTOL = 1e-5


def short(array):
    """Three decimals: inputs that a reader can retype."""
    return np.round(array, 3)


def weights_matrix(rng, d):
    root = rng.standard_normal((d, d + 2))
    return short(root @ root.T / d + 0.2 * np.eye(d))


def solved(problem):
    for tolerance in (1e-9, 1e-8, 1e-7):  # not every problem can be solved to nine digits
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance,
                                  tol_feas=tolerance)
        if problem.status == cp.OPTIMAL:
            return float(value)
    sys.exit(f"design_oracle: the conic solver ends with {problem.status}")


def minimax_full(s, w, zeta, rho, floor):
    d = s.shape[1]
    sigma = cp.Variable((d, d), PSD=True)
    worst = cp.Variable()
    constraints = [cp.matrix_frac(row, sigma) <= worst for row in s] + [cp.trace(w @ sigma) <= zeta]
    if floor > 0:
        constraints.append(sigma >> floor * np.eye(d))
    objective = worst
    if rho > 0:
        objective = objective + rho * cp.matrix_frac(np.linalg.cholesky(np.linalg.inv(w)), sigma)
    return solved(cp.Problem(cp.Minimize(objective), constraints))


def minimax_diag(s, w, zeta, rho, floor):
    v = cp.Variable(s.shape[1])
    worst = cp.Variable()
    constraints = [(row ** 2) @ cp.inv_pos(v) <= worst for row in s] + [w @ v <= zeta, v >= floor]
    objective = worst + rho * ((1 / w) @ cp.inv_pos(v)) if rho > 0 else worst
    return solved(cp.Problem(cp.Minimize(objective), constraints))


def optimal_diag(g, w, zeta, floor):
    v = cp.Variable(len(g))
    return solved(cp.Problem(cp.Minimize(g @ cp.inv_pos(v)), [w @ v <= zeta, v >= floor]))


def main(path, seed=2024):
    rng = np.random.default_rng(int(seed))
    file = common.GoldenFile(
        "Noise designs by a conic solver",
        "tools/oracles/design_oracle.py OUT.json [SEED]",
        {"cvxpy": cp.__version__, "clarabel": clarabel.__version__, "numpy": np.__version__},
        ["objective = worst cost + rho tr(W^{-1} Sigma^{-1}); floor bounds every direction of a full Sigma"])
    file.meta["digits"] = 8
    file.meta["regenerates_to"] = 1e-6

    def add(function, inputs, outputs):
        file.counts[function] = file.counts.get(function, 0) + 1
        file.cases.append({"id": f"oracle_{function}-{file.counts[function]:03d}", "section": "9",
                           "function": function, "inputs": inputs, "outputs": outputs, "rtol": RTOL, "atol": 0.0})

    for case in range(24):
        d, zeta = int(rng.integers(2, 7)), float(short(rng.uniform(0.5, 4)))
        count = int(rng.integers(d, 4 * d))
        s = short(rng.standard_normal((count, d)) * np.exp(rng.standard_normal(d)))
        rho = 0.1 if case % 3 == 1 else 0.0
        floor = round(0.3 * zeta / d, 3) if case % 3 == 2 else 0.0
        if case % 4 == 3 and rho > 0:
            s = s[: d - 1]  # fewer differences than coordinates
        w = np.eye(d) if floor > 0 else weights_matrix(rng, d)
        extra = ({"rho": rho} if rho else {}) | ({"floor": floor} if floor else {})
        add("minimax_full", {"sensitivities": s.tolist(), "A": w.tolist(), "zeta": zeta, **extra},
            {"objective": minimax_full(s, w, zeta, rho, floor)})
        w = short(rng.uniform(0.2, 2, d))
        if floor > 0:
            floor = round(0.3 * zeta / w.sum(), 3)
            extra = {"floor": floor}
        add("minimax_diag", {"sensitivities": s.tolist(), "weights": w.tolist(), "zeta": zeta, **extra},
            {"objective": minimax_diag(s, w, zeta, rho, floor)})
        g = short(np.exp(2 * rng.standard_normal(d)) + 1e-3)
        floor = round(0.5 * zeta / w.sum(), 3)
        add("optimal_diag", {"second_moments": g.tolist(), "weights": w.tolist(), "zeta": zeta, "floor": floor},
            {"value": optimal_diag(g, w, zeta, floor)})
    file.write(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
