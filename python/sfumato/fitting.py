"""Regressions that may be published: fitted to a private table with a guarantee."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, NamedTuple

from ._answer import Answer
from ._ask import ask
from ._core import Claimed
from ._tables import columns_of, write
from ._values import Files

_PATH = (str, os.PathLike)


class FitGuarantee(NamedTuple):
    """(epsilon, delta)-differential privacy of a fitted model."""

    epsilon: Claimed
    delta: float
    adjacency: str
    records: int


class FitAnswer(Answer):
    """A fitted model with its guarantee."""

    @property
    def model(self) -> dict[str, Any]:
        """The model: coef_, intercept_, feature_names_in_, classes_, columns, guarantee (docs/fit.md)."""
        if "_model" not in self.__dict__:
            self._model = json.loads(self._found.kept_text)
        return self._model

    @property
    def guarantee(self) -> FitGuarantee | None:
        """None where there is none: with a seed, or bounds that were read off the table."""
        known = self.model["guarantee"]
        if not known["certified"]:
            return None
        epsilon = Claimed(known["epsilon"], "upper_bound", "certified accounting of what was released")
        return FitGuarantee(epsilon, known["delta"], known["adjacency"], known["records"])

    @property
    def statement(self) -> str:
        """The privacy statement for a model card; empty where there is no guarantee."""
        return self.__dict__.get("_statement", self._found.statement)

    def save_model(self, path):
        """Writes the model as JSON, which `after` of a further fit takes."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(self.model, indent=2) + "\n")

    def _kept(self):
        return {"_model": self.model, "_statement": self.statement}


def _bounds_file(files, bounds, target, records, adjacency):
    """Declarations {column: (low, high) or [levels]} as the file that the library reads."""
    rows = {"column": [], "kind": [], "low": [], "high": [], "levels": [], "source": []}

    def add(column, kind, low="", high="", levels=""):
        for key, value in zip(rows, (column, kind, low, high, levels, "given in Python")):
            rows[key].append(str(value))

    for column, declared in bounds.items():
        levels = not isinstance(declared, tuple)
        kind = "target" if column == target else "category" if levels else "numeric"
        if levels:
            add(column, kind, levels="|".join(str(level) for level in declared))
        else:
            low, high = declared
            add(column, kind, repr(float(low)), repr(float(high)))
    if records is not None:
        add("(records)", "", high=int(records))
    if adjacency is not None:
        add("(adjacency)", "", levels=adjacency)
    path = files.path("bounds", ".csv")
    write(path, list(rows), list(rows.values()))
    return path


def fit(table, target=None, *, bounds=None, columns=None, records=None, adjacency=None, progress=None, **keys):
    """Fits a private regression: (epsilon, delta)-differential privacy for every table within bounds declared beforehand.

    `table` is a data frame, a dict of columns, a matrix or the path of a CSV or TOML file. `bounds` is the path of a file of declarations, or
    a dict of a (low, high) for each numeric column and a list of levels for each category, the target among them; from outside
    knowledge: numbers taken from the table void the guarantee. `records` is a public bound of the number of rows.

    >>> bounds = {"age": (15, 70), "hours": (0, 60), "wage": (0, 120)}
    >>> answer = fit("examples/fit/wages.csv", "wage", model="ridge", bounds=bounds, records=10000, adjacency="add_remove",
    ...              target_epsilon=1, target_delta=1e-6)
    >>> round(answer.guarantee.epsilon.value, 3), answer.model["feature_names_in_"]
    (1.0, ['age', 'hours'])

    Other keys are those of `sfumato fit` (docs/fit.md); force=True also fits where nothing useful is expected. Each call spends its own budget.
    """
    with Files() as files:
        file = ""
        if isinstance(table, _PATH):
            if os.fspath(table).endswith(".toml"):
                table, file = None, os.fspath(table)
        else:
            names, values = columns_of(table, columns)
            if not isinstance(target, (str, int, type(None))):
                more_names, more = columns_of({"target": target})
                names, values, target = names + more_names, values + more, "target"
            elif isinstance(target, int):
                target = names[target]
            path = files.path("table", ".csv")
            write(path, names, values)
            table = path
        if isinstance(bounds, dict):
            bounds = _bounds_file(files, bounds, target, records, adjacency)
            records = adjacency = None
        given = dict(table=table, target=target, bounds=bounds, records=records, adjacency=adjacency, **keys)
        return ask("fit", given, file=file, progress=progress, files=files, kind=FitAnswer)


class _Estimator:
    """What scikit-learn asks of an estimator, without needing it."""

    _model = ""
    _estimator_type = ""

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, records=None, adjacency="add_remove", fit_intercept=True,
                 mechanism=None, holdout=0.0, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.records = records
        self.adjacency = adjacency
        self.fit_intercept = fit_intercept
        self.mechanism = mechanism
        self.holdout = holdout
        self.random_state = random_state

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **parameters):
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{name}: {type(self).__name__} has no such parameter. It has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags  # type: ignore[import-untyped, unused-ignore]

        classifier = self._estimator_type == "classifier"
        return Tags(estimator_type=self._estimator_type, target_tags=TargetTags(required=True), transformer_tags=None,
                    classifier_tags=ClassifierTags(multi_class=False) if classifier else None,
                    regressor_tags=None if classifier else RegressorTags())

    def _matrix(self, X):
        import numpy as np

        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X: has {matrix.ndim} axes. Give a matrix with a row per record.")
        return matrix, names or [f"x{i}" for i in range(matrix.shape[1])]

    def _fit(self, X, target, target_bounds):
        matrix, names = self._matrix(X)
        if self.bounds is None or self.records is None:
            raise ValueError("bounds and records: a guarantee rests on what is known without the data. Give a (low, high) for each column "
                             "of X, and a public bound of the number of rows.")
        if len(self.bounds) != len(names):
            raise ValueError(f"bounds: {len(self.bounds)} ranges for {len(names)} columns. Give one for each.")
        declared = {name: tuple(bound) for name, bound in zip(names, self.bounds)}
        declared["target"] = target_bounds
        table = dict(zip(names, matrix.T), target=target)
        answer = fit(table, "target", model=self._model, bounds=declared, records=self.records, adjacency=self.adjacency,
                     target_epsilon=self.epsilon, target_delta=self.delta, intercept=self.fit_intercept, mechanism=self.mechanism,
                     holdout=self.holdout, seed=self.random_state, progress=False)
        self._take(answer, names)
        return self

    def _take(self, answer, names):
        import numpy as np

        self.answer_ = answer
        self.guarantee_ = answer.guarantee
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.coef_ = np.asarray(answer.model["coef_"], dtype=float)
        self.intercept_ = np.asarray(answer.model["intercept_"], dtype=float)

    def _linear(self, X):
        if not hasattr(self, "coef_"):
            raise ValueError(f"{type(self).__name__}: is not fitted yet. Call fit first.")
        matrix, _ = self._matrix(X)
        if matrix.shape[1] != self.n_features_in_:
            raise ValueError(f"X: has {matrix.shape[1]} columns, the model {self.n_features_in_}.")
        return matrix @ self.coef_.T + self.intercept_


class PrivateRidge(_Estimator):
    """Private linear regression as a scikit-learn estimator: fit, predict, score, coef_, intercept_, guarantee_.

    `bounds` has a (low, high) for each column of X, `target_bounds` that of y, `records` a public bound of the number of rows; all from
    outside knowledge. `random_state` repeats the noise, for experiments, and then there is no guarantee (guarantee_ is None).
    """

    _model = "ridge"
    _estimator_type = "regressor"

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, target_bounds=None, records=None, adjacency="add_remove",
                 fit_intercept=True, mechanism=None, holdout=0.0, random_state=None):
        super().__init__(epsilon, delta, bounds=bounds, records=records, adjacency=adjacency, fit_intercept=fit_intercept,
                         mechanism=mechanism, holdout=holdout, random_state=random_state)
        self.target_bounds = target_bounds

    def fit(self, X, y):
        if self.target_bounds is None:
            raise ValueError("target_bounds: a guarantee rests on what is known without the data. Give (low, high) of y.")
        return self._fit(X, y, tuple(self.target_bounds))

    def predict(self, X):
        return self._linear(X)

    def score(self, X, y):
        """R^2 on these records: not private."""
        import numpy as np

        y = np.asarray(y, dtype=float)
        return float(1.0 - ((y - self.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum())


class PrivateLogisticRegression(_Estimator):
    """Private logistic regression of two classes as a scikit-learn estimator: fit, predict, predict_proba, score, coef_, intercept_, classes_,
    guarantee_. `classes` are the two labels, known beforehand; the rest is as in PrivateRidge."""

    _model = "logistic"
    _estimator_type = "classifier"

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, classes=(0, 1), records=None, adjacency="add_remove",
                 fit_intercept=True, mechanism=None, holdout=0.0, random_state=None):
        super().__init__(epsilon, delta, bounds=bounds, records=records, adjacency=adjacency, fit_intercept=fit_intercept,
                         mechanism=mechanism, holdout=holdout, random_state=random_state)
        self.classes = classes

    def fit(self, X, y):
        import numpy as np

        classes = list(self.classes)
        if len(classes) != 2:
            raise ValueError(f"classes: {len(classes)} of them. Logistic regression is of two.")
        labels = np.asarray(y)
        unknown = [label for label in np.unique(labels).tolist() if label not in classes]
        if unknown:
            raise ValueError(f"y: the label {unknown[0]!r} is none of the classes {classes}.")
        texts = ["no", "yes"]
        self._fit(X, [texts[classes.index(label)] for label in labels.tolist()], texts)
        self.classes_ = np.array(classes)
        return self

    def decision_function(self, X):
        return self._linear(X).reshape(-1)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def predict_proba(self, X):
        import numpy as np

        one = 1.0 / (1.0 + np.exp(-self.decision_function(X)))
        return np.stack([1.0 - one, one], axis=1)

    def score(self, X, y):
        """The share of right labels on these records: not private."""
        import numpy as np

        return float((self.predict(X) == np.asarray(y)).mean())
