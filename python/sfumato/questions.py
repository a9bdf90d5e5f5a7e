"""One function per question of the command line, with its keys as keywords."""

from __future__ import annotations

import os

from . import _core
from ._answer import Answer, AuditAnswer, BoundAnswer, DesignAnswer, QuadraticAnswer, RowsAnswer
from ._ask import ask, keywords, watched
from ._callables import takes_time
from ._tables import columns_of, with_target, write
from ._values import Files

_PATH = (str, os.PathLike)


def keys(question):
    """The keywords of a question ("account", "audit", "bound", "design", "fit", "quadratic", "report", "rows", "verify"), a dict each.

    >>> [key["key"] for key in keys("rows")][:3]
    ['table', 'target', 'adjacency']
    """
    return _core.keys(question)


def rows(table, target=None, *, columns=None, adjacency="remove", loss="sum", progress=None, **keys):
    """What the published weights of a regression reveal about each row of a table.

    `table` is a data frame (pandas, polars), a dict of columns, a matrix (with `columns` as names, else x0, x1, ...) or the path of a
    CSV or TOML file; `target` the name of the column to predict, its position in a matrix, or the values themselves.

    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 20)
    >>> answer = rows({"x": x, "y": x + np.cos(9 * x)}, target="y", ridge=1, noise=0.01)
    >>> int(np.argmax(answer.risks["advantage"])), round(float(answer.risks["advantage"].max()), 4)
    (0, 0.5716)

    D' lacks the row (`adjacency`) and the loss is the sum over the rows (`loss`) unless said otherwise. Other keys are those of
    `sfumato rows` (docs/rows.md): model="logistic", training="flow", goal="advantage=0.1", epsilons=[1], delta=1e-5, standardise=..., impute="median", ...
    """
    if isinstance(table, _PATH):
        given = dict(target=target, adjacency=adjacency, loss=loss, **keys)
        if os.fspath(table).endswith(".toml"):
            given = dict(target=target, **keys)
            return ask("rows", given, file=os.fspath(table), progress=progress, kind=RowsAnswer)
        return ask("rows", dict(table=table, **given), progress=progress, kind=RowsAnswer)
    with Files() as files:
        names, values, target = with_target(table, target, columns)
        for name in ("replacement", "with", "standardise", "standardize"):
            if name in keys and keys[name] is not None and not isinstance(keys[name], _PATH):
                keys[name] = _written(files, name, keys[name])
        given = dict(table=files.in_memory("table", (names, values)), target=target, adjacency=adjacency, loss=loss, **keys)
        answer = ask("rows", given, progress=progress, files=files, kind=RowsAnswer)
        if hasattr(table, "index") and hasattr(table, "iloc") and len(table) == len(answer.risks["row"]):
            answer._index = table.index
        return answer


def _written(files, name, table):
    path = files.path(name, ".csv")
    if isinstance(table, dict):  # one record may be given by plain numbers
        table = {key: value if hasattr(value, "__len__") and not isinstance(value, str) else [value] for key, value in table.items()}
    write(path, *columns_of(table))
    return path


def quadratic(file="", *, progress=None, **keys):
    """What the parameters reveal where the loss is quadratic; exact.

    >>> answer = quadratic(d=dict(A=1, minimiser=0, Sigma=2), d_prime=dict(minimiser=0.1), times=[float("inf")])
    >>> answer.kl.forward.claim, round(answer.kl.forward.value, 9)
    ('exact', 0.005)

    `d` and `d_prime` are the tables of the problem (docs/quadratic.md): numbers, lists, arrays or paths. What `d_prime` does not say is
    as in `d`. Or name a problem file, with keywords over it.
    """
    return ask("quadratic", keys, file=file, progress=progress, kind=QuadraticAnswer)


def design(differences=None, *, file="", progress=None, **keys):
    """The noise covariance that hides given differences best, for what it costs in accuracy.

    >>> answer = design([[3.0, 0.0], [0.0, 1.0]], differences_are="public", trace=4.0)
    >>> answer.covariance["variances"].round(6).tolist()
    [3.6, 0.4]

    `differences` has a row per difference of gradients. Other keys are those of `sfumato design` (docs/design.md); arrays may be
    given where the command line takes files. The answer can be the `noise` of rows() and the `Sigma` of quadratic() and bound().
    """
    return ask("design", dict(differences=differences, **keys), file=file, progress=progress, kind=DesignAnswer)


def audit(in_scores=None, out_scores=None, *, claim=None, unit="models", progress=None, **keys):
    """What scores of trained models show about epsilon: a lower bound, and what becomes of a claim.

    `in_scores` has a score for each model that was trained with the record, `out_scores` for each that was not (a column per pair of
    data sets or kind of score); larger scores mean members unless larger_means="nonmember".

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> answer = audit(noise[0] + 3, noise[1], claim=(1, 1e-5))
    >>> answer.verdict, answer.epsilon.claim
    ('violated', 'lower_bound')

    unit="records" are records of one model; with randomised=True, each was included by a fair coin (one-run audit). `logits` and
    `membership` are LiRA's layout, models x records. Other keys are those of `sfumato audit` (docs/audit.md).
    """
    if (in_scores is None) != (out_scores is None):
        missing, there = ("out", "in") if out_scores is None else ("in", "out")
        raise ValueError(f"{missing}_scores: is missing beside {there}_scores. Give the scores of both.")
    for name, scores in (("in_scores", in_scores), ("out_scores", out_scores)):
        if isinstance(scores, (list, tuple)) and any(isinstance(score, str) for score in scores):
            raise ValueError(f"{name}: has texts. Give numbers, or the path of one file.")
    given = dict(members=in_scores, nonmembers=out_scores, claim=claim, unit=unit, **keys)
    labels = {"members": "in_scores", "nonmembers": "out_scores"}
    return ask("audit", given, progress=progress, kind=AuditAnswer, labels=labels)


def plan_audit(claim, runs=None, *, progress=None, **keys):
    """Before training: how many models it takes to refute a claim, and what `runs` models per data set can show at most.

    >>> plan_audit((3, 1e-5), runs=100).verdict
    'open'
    """
    return ask("audit", dict(plan=claim, runs=runs, **keys), progress=progress, kind=AuditAnswer)


def report(inputs, out, *, force=False, progress=None, **keys):
    """One self-contained HTML page of answers, ledgers, or JSON files; its JSON goes beside it. Existing files are replaced only with `force`."""
    if isinstance(inputs, (*_PATH, Answer)) or hasattr(inputs, "_as_value"):
        inputs = [inputs]
    with Files() as files:
        inputs = [item._as_value(files, f"input{i}") if hasattr(item, "_as_value") else os.fspath(item)
                  for i, item in enumerate(inputs)]
        return ask("report", dict(inputs=inputs, out=out, **keys), progress=progress, files=files, force=force)


def verify(file, *, progress=None, **keys):
    """Checks this build against a file of reference values, as `sfumato verify` does."""
    return ask("verify", dict(file=file, **keys), progress=progress)


def bound(drift=None, drift2=None, sigma=None, sigma2=None, *, file="", d=None, d_prime=None, dimension=None,
          sigma_divergence=None, sigma2_divergence=None, progress=None, **keys):
    """How far apart two stochastic differential equations can be: dX = b(X) dt + Sigma^(1/2) dW on D and on D'.

    A drift is a formula ("x - x^3"), a list of one per coordinate, or a function of Python that takes many points at once,
    f(x) or f(t, x), x of shape (points, coordinates), and returns an array of that shape. `sigma` is a variance, a list of them, a matrix,
    a formula, or a function that returns the variances of each coordinate, with `sigma_divergence` as their derivatives.
    What `drift2` and `sigma2` leave out is as on D. Families (A and minimiser, mixture, model) go into `d` and `d_prime`.

    >>> answer = bound("-x", "-x + 0.1 * cos(x)", sigma=0.5, times=[1, 10], fokker_planck=False, monte_carlo=False,
    ...                sensitivity=0.1 / 0.5**0.5, contraction=1)
    >>> answer.get("kl_forward", time=10.0, by="sensitivity").claim
    'upper_bound'

    `x` is the function's own, to write to or to keep. What it returns may be an array of NumPy, JAX (in float32 unless jax_enable_x64 is set)
    or PyTorch. Other keys are those of a problem file (docs/bound.md): times, epsilons, delta, seed, paths, cells, sensitivity,
    contraction, ...
    """
    if isinstance(drift, os.PathLike) or (isinstance(drift, str) and drift.endswith(".toml")):
        drift, file = None, drift
    d, d_prime = dict(d or {}), dict(d_prime or {})
    functions = [drift, sigma, sigma_divergence], [drift2, sigma2, sigma2_divergence]
    if not any(callable(function) for side in functions for function in side):
        for side, flow, noise in ((d, drift, sigma), (d_prime, drift2, sigma2)):
            _say(side, flow, noise)
        if not file:
            _require_times(keys)
        return ask("bound", dict(d=d or None, d_prime=d_prime or None, **keys), file=file, progress=progress, kind=BoundAnswer)
    _require_times(keys)
    if file:
        raise ValueError("bound: functions do not go with a file. Give the rest of it as keywords.")
    return _bound_functions(functions, d, d_prime, dimension, progress, keys)


def _require_times(keys):
    if not {"times", "flow"} & {name for name, value in keys.items() if value is not None}:
        raise ValueError("times: is missing. Say when the processes are looked at: times=[1.0, 10.0].")


def _say(side, drift, sigma):
    if drift is not None:
        side["drift"] = drift
    if sigma is not None:
        formula = isinstance(sigma, str) or (isinstance(sigma, (list, tuple)) and any(isinstance(s, str) for s in sigma))
        side["Sigma_formula" if formula else "Sigma"] = sigma


def _bound_functions(functions, d, d_prime, dimension, progress, keys):
    import numpy as np

    (drift, sigma, divergence), (drift2, sigma2, divergence2) = functions
    if not callable(drift) or (drift2 is not None and not callable(drift2)):
        raise ValueError("bound: one drift is a function and the other is not. Give both as functions.")
    drift2 = drift if drift2 is None else drift2
    for name, noise, slope in (("sigma", sigma, divergence), ("sigma2", sigma2, divergence2)):
        if callable(noise) and not callable(slope):
            raise ValueError(f"{name}: its derivatives are missing. Give {name}_divergence: d Sigma_ii / d x_i, "
                             "of the same shape; zeros where Sigma is constant.")
    if callable(sigma) != callable(sigma2) and sigma2 is not None:
        raise ValueError("sigma2: one noise is a function and the other is not. Give both as functions.")
    if dimension is None:
        start = d.get("start_mean")
        dimension = 1 if start is None else int(np.atleast_1d(np.asarray(start)).size)
        for matrix in (sigma, d.get("Sigma")):
            if start is None and matrix is not None and not callable(matrix) and np.ndim(matrix) >= 1:
                dimension = int(np.shape(matrix)[0])
    # What the functions take the place of: formulas, of which nothing is proven.
    formulas = [f"-x{i + 1}^3" for i in range(dimension)]
    d["drift"], d_prime["drift"] = formulas, formulas
    d["Sigma"] = 1.0 if callable(sigma) else sigma if sigma is not None else d.get("Sigma")
    if sigma2 is not None:
        d_prime["Sigma"] = 1.0 if callable(sigma2) else sigma2
    own_noise = sigma2 is not None or "Sigma" in d_prime
    slope, slope2 = (divergence, divergence2) if sigma2 is not None else (divergence, divergence)
    sigma2 = sigma if sigma2 is None else sigma2

    def side(flow, noise, slope, mark):
        named = ((flow, f"drift{mark}"), (noise, f"sigma{mark}"), (slope, f"sigma{mark}_divergence"))
        return [(f, takes_time(f), name) if callable(f) else (None, False, name) for f, name in named]

    with Files() as files:
        given = keywords("bound", dict(d=d, d_prime=d_prime, **keys), files)
        sides = side(drift, sigma, slope, ""), side(drift2, sigma2, slope2, "2")
        found = watched(lambda bar: _core.bound_functions(given, *sides, own_noise, bar), files, progress)
        return BoundAnswer(found, files.names)
