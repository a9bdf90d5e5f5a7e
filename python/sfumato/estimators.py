"""Private regressions with the interface of scikit-learn, which they do not need."""

from __future__ import annotations

import inspect
import sys
import warnings

from .fitting import fit


def _of_scikit_learn(name, otherwise):
    """An exception or warning of scikit-learn where somebody has imported it: who uses it catches those."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)


class _NotFitted(ValueError, AttributeError):
    """What scikit-learn's NotFittedError is, too."""


def _names(X):
    """The names of a data frame's columns, if they are texts."""
    columns = list(getattr(X, "column_names", getattr(X, "columns", ())))  # of Arrow, or of pandas and polars
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _matrix(X):
    """X as a matrix of finite doubles, or a refusal."""
    import numpy as np

    if hasattr(X, "tocsr"):
        raise TypeError("X: is sparse, which is not supported. Give X.toarray().")
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise ValueError("X: has masked entries. Fill them or leave the rows out.")
    matrix = np.asarray(X)
    if matrix.dtype.kind == "c":
        raise ValueError("X: Complex data not supported. Give real numbers.")
    if matrix.ndim != 2:
        raise ValueError(f"X: has {matrix.ndim} axes, expected a matrix with a row per record. Reshape your data: X.reshape(-1, 1) for one "
                         "column, X.reshape(1, -1) for one record.")
    for size, what in zip(matrix.shape, ("sample", "feature")):
        if size == 0:
            raise ValueError(f"X: has 0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    try:
        matrix = matrix.astype(np.float64)
    except ValueError as error:
        raise ValueError(f"X: {error}. Give numbers; categories go to sfumato.fit as columns of a table.") from None
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        what = "NaN" if np.isnan(matrix[row, column]) else "infinity"
        raise ValueError(f"X: contains {what}, first in row {row}, column {column}, from 0. Fill it or leave the row out.")
    return matrix


def _vector(y, rows):
    import numpy as np

    if y is None:
        raise ValueError("y: is missing: the model requires y to be passed, but the target y is None.")
    if np.ma.isMaskedArray(y) and np.ma.getmaskarray(y).any():
        raise ValueError("y: has masked entries. Fill them or leave the rows out.")
    vector = np.asarray(y)
    if vector.ndim == 2 and vector.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected: y.ravel() is taken.",
                      _of_scikit_learn("DataConversionWarning", UserWarning), stacklevel=4)
        vector = vector.ravel()
    if vector.ndim != 1:
        raise ValueError(f"y: has {vector.ndim} axes. y should be a 1d array, an entry per record.")
    if len(vector) != rows:
        raise ValueError(f"y: has {len(vector)} entries, X {rows} rows.")
    if vector.dtype.kind == "c":
        raise ValueError("y: Complex data not supported. Give real numbers.")
    if vector.dtype.kind == "f" and not np.isfinite(vector).all():
        raise ValueError(f"y: Input y contains {'NaN' if np.isnan(vector).any() else 'infinity'}.")
    return vector


class _Estimator:
    """What scikit-learn asks of an estimator, without needing it."""

    _model = ""
    _estimator_type = ""

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, records=None, adjacency="add_remove", fit_intercept=True,
                 mechanism=None, holdout=0.0, accept_useless=False, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.records = records
        self.adjacency = adjacency
        self.fit_intercept = fit_intercept
        self.mechanism = mechanism
        self.holdout = holdout
        self.accept_useless = accept_useless
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

    def __repr__(self, N_CHAR_MAX=None):
        own = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not own[name].default]
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_html_(self):
        from html import escape

        guarantee = getattr(self, "guarantee_", None)
        said = ("not fitted" if not hasattr(self, "coef_") else "no guarantee: a repeatable fit" if guarantee is None
                else f"epsilon {guarantee.epsilon} at delta = {guarantee.delta:g}")
        return f"<span><code>{escape(repr(self))}</code> <b>{escape(said)}</b></span>"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags  # type: ignore[import-untyped, unused-ignore]

        classifier = self._estimator_type == "classifier"
        return Tags(estimator_type=self._estimator_type, target_tags=TargetTags(required=True), transformer_tags=None,
                    classifier_tags=ClassifierTags(poor_score=True) if classifier else None,
                    regressor_tags=None if classifier else RegressorTags(poor_score=True),
                    non_deterministic=self.random_state is None)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def _declared(self, columns):
        """A (low, high) for each column: a list of them, or one for all."""
        if self.bounds is None or self.records is None:
            raise ValueError("bounds and records: a guarantee rests on what is known without the data. Give a (low, high) for each column "
                             "of X, and a public bound of the number of rows.")
        bounds = list(self.bounds)
        if len(bounds) == 2 and not any(hasattr(bound, "__len__") for bound in bounds):
            return [tuple(bounds)] * columns
        if len(bounds) != columns:
            raise ValueError(f"bounds: {len(bounds)} ranges for {columns} columns. Give one for each, or one (low, high) for all.")
        return [tuple(bound) for bound in bounds]

    def _seed(self):
        if hasattr(self.random_state, "randint"):
            return int(self.random_state.randint(2**31 - 1))
        if hasattr(self.random_state, "integers"):
            return int(self.random_state.integers(2**31 - 1))
        return self.random_state

    def _fit(self, X, matrix, target, target_bounds):
        import numpy as np

        given = _names(X)
        names = [f"x{i}" for i in range(matrix.shape[1])]  # a name of the data must not be "target"
        declared = dict(zip(names, self._declared(len(names))), target=target_bounds)
        answer = fit(dict(zip(names, matrix.T), target=target), "target", model=self._model_of(target_bounds), bounds=declared,
                     records=self.records, adjacency=self.adjacency, target_epsilon=self.epsilon, target_delta=self.delta,
                     intercept=self.fit_intercept, mechanism=self.mechanism, holdout=self.holdout, accept_useless=self.accept_useless or None,
                     seed=self._seed(), progress=False)
        self.answer_ = answer
        self.guarantee_ = answer.guarantee
        self.n_features_in_ = len(names)
        if given is not None:
            self.feature_names_in_ = np.array(given, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.coef_ = np.asarray(answer.model["coef_"], dtype=float)
        self.intercept_ = np.asarray(answer.model["intercept_"], dtype=float)
        return self

    def _model_of(self, target_bounds):
        return self._model

    def _linear(self, X):
        if not hasattr(self, "coef_"):
            raise _of_scikit_learn("NotFittedError", _NotFitted)(f"{type(self).__name__}: is not fitted yet. Call fit first.")
        fitted, given = getattr(self, "feature_names_in_", None), _names(X)
        if fitted is not None and given is not None and list(fitted) != given:
            raise ValueError(f"X: The feature names should match those that were passed during fit: {', '.join(fitted)}.")
        matrix = _matrix(X)
        if matrix.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                             "as input.")
        return matrix @ self.coef_.T + self.intercept_


class PrivateRidge(_Estimator):
    """Private linear regression as a scikit-learn estimator: fit, predict, score, coef_, intercept_, guarantee_.

    `bounds` has a (low, high) for each column of X, or is one for all, `target_bounds` that of y, `records` a public bound of the number of
    rows; all from outside knowledge. `random_state` repeats the noise, for experiments, and then there is no guarantee (guarantee_ is None).
    `accept_useless` also fits where nothing useful is expected.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).uniform(-1, 1, (3000, 2))
    >>> model = PrivateRidge(3, bounds=(-1, 1), target_bounds=(-4, 4), records=3000).fit(x, x @ [1.0, -2.0])
    >>> model.guarantee_.epsilon.value <= 3, model.score(x, x @ [1.0, -2.0]) > 0.8
    (True, True)
    """

    _model = "ridge"
    _estimator_type = "regressor"

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, target_bounds=None, records=None, adjacency="add_remove",
                 fit_intercept=True, mechanism=None, holdout=0.0, accept_useless=False, random_state=None):
        super().__init__(epsilon, delta, bounds=bounds, records=records, adjacency=adjacency, fit_intercept=fit_intercept,
                         mechanism=mechanism, holdout=holdout, accept_useless=accept_useless, random_state=random_state)
        self.target_bounds = target_bounds

    def fit(self, X, y):
        import numpy as np

        matrix = _matrix(X)
        vector = _vector(y, len(matrix)).astype(np.float64)
        if self.target_bounds is None:
            raise ValueError("target_bounds: a guarantee rests on what is known without the data. Give (low, high) of y.")
        return self._fit(X, matrix, vector, tuple(self.target_bounds))

    def predict(self, X):
        return self._linear(X)

    def score(self, X, y):
        """R^2 on these records: not private."""
        import numpy as np

        y = np.asarray(y, dtype=float)
        return float(1.0 - ((y - self.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum())


class PrivateLogisticRegression(_Estimator):
    """Private logistic regression, or softmax regression of more than two classes, as a scikit-learn estimator: fit, predict,
    predict_proba, score, coef_, intercept_, classes_, guarantee_.

    `classes` are the labels, known beforehand: reading them off the data would tell of it. The rest is as in PrivateRidge.
    """

    _estimator_type = "classifier"

    def __init__(self, epsilon=1.0, delta=1e-6, *, bounds=None, classes=(0, 1), records=None, adjacency="add_remove",
                 fit_intercept=True, mechanism=None, holdout=0.0, accept_useless=False, random_state=None):
        super().__init__(epsilon, delta, bounds=bounds, records=records, adjacency=adjacency, fit_intercept=fit_intercept,
                         mechanism=mechanism, holdout=holdout, accept_useless=accept_useless, random_state=random_state)
        self.classes = classes

    def _model_of(self, target_bounds):
        return "logistic" if len(target_bounds) == 2 else "softmax"

    def fit(self, X, y):
        import numpy as np

        matrix = _matrix(X)
        labels = _vector(y, len(matrix))
        classes = list(self.classes)
        if len(classes) < 2 or len(set(classes)) != len(classes):
            raise ValueError(f"classes: {classes} are not two or more different labels.")
        unknown = [label for label in np.unique(labels).tolist() if label not in classes]
        if unknown:
            continuous = isinstance(unknown[0], float) and not unknown[0].is_integer()
            raise ValueError(f"y: the label {unknown[0]!r} is none of the classes {classes}. "
                             + ("A continuous target is for PrivateRidge." if continuous else "Declare all of them beforehand."))
        texts = [f"class{i}" for i in range(len(classes))]
        self._fit(X, matrix, [texts[classes.index(label)] for label in labels.tolist()], texts)
        self.classes_ = np.array(classes)
        return self

    def decision_function(self, X):
        """The logit of the second class; of more classes, the score of each."""
        linear = self._linear(X)
        return linear.reshape(-1) if len(self.classes_) == 2 else linear

    def predict(self, X):
        decision = self.decision_function(X)
        return self.classes_[(decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)]

    def predict_proba(self, X):
        import numpy as np

        decision = self.decision_function(X)
        if decision.ndim == 1:
            decision = np.stack([np.zeros_like(decision), decision], axis=1)
        weights = np.exp(decision - decision.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def score(self, X, y):
        """The share of right labels on these records: not private."""
        import numpy as np

        return float((self.predict(X) == np.asarray(y)).mean())
