"""Regressions that may be published: fitted to a private table with a guarantee."""

from __future__ import annotations

import json
import numbers
import os
from typing import Any, NamedTuple

from . import _core
from ._answer import Answer
from ._ask import ask
from ._core import Claimed
from ._quantities import FitNumbers
from ._tables import with_target, write
from ._values import Files, require_new

_PATH = (str, os.PathLike)


class FitGuarantee(NamedTuple):
    """(epsilon, delta)-differential privacy of a fitted model."""

    epsilon: Claimed
    delta: float
    adjacency: str
    records: int


class FitAnswer(FitNumbers, Answer):
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

    def save_model(self, path, force=False):
        """Writes the model as JSON, which `after` of a further fit takes. An existing file is replaced only with `force`, and a model with a
        guarantee even then only by one that was fitted `after` it: the account of what was released would be lost."""
        require_new(path, force)
        _core.save_model(json.dumps(self.model, indent=2) + "\n", os.fspath(path), self._inputs, force)

    def _kept(self):
        return {"_model": self.model, "_statement": self.statement}


def _is_range(declared):
    """Two numbers are a range; a category of two numbers is the same as their range."""
    return len(declared) == 2 and all(isinstance(end, numbers.Real) for end in declared)


def _bounds_file(files, bounds, target, classes, records, adjacency):
    """Declarations {column: (low, high) or [levels]} as the file that the library reads; of a target of classes, its levels."""
    rows = {"column": [], "kind": [], "low": [], "high": [], "levels": [], "source": []}

    def add(column, kind, low="", high="", levels=""):
        for key, value in zip(rows, (column, kind, low, high, levels, "given in Python")):
            rows[key].append(str(value))

    for column, declared in bounds.items():
        if isinstance(declared, str) or not hasattr(declared, "__len__"):
            raise ValueError(f"bounds: of column \"{column}\" is {declared!r}. Give (low, high), or a list of levels.")
        levels = (classes and column == target) or not _is_range(declared)
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
    knowledge: numbers taken from the table void the guarantee. `records` is a public bound of the number of rows. Beside such a dict, neighbours
    are tables with a record more or less unless `adjacency` says otherwise.

    >>> bounds = {"age": (15, 70), "hours": (0, 60), "wage": (0, 120)}
    >>> answer = fit("examples/fit/wages.csv", "wage", model="ridge", bounds=bounds, records=10000, adjacency="add_remove",
    ...              target_epsilon=1, target_delta=1e-6)
    >>> round(answer.guarantee.epsilon.value, 3), answer.model["feature_names_in_"]
    (1.0, ['age', 'hours'])

    Records with a missing value (NaN, None) contribute nothing unless `missing` says otherwise: "middle", "indicator" or "value:X". Other keys are those
    of `sfumato fit` (docs/fit.md); accept_useless=True also fits where nothing useful is expected. Each call spends its own budget.
    """
    with Files() as files:
        file = ""
        if isinstance(table, _PATH):
            if os.fspath(table).endswith(".toml"):
                table, file = None, os.fspath(table)
        else:
            names, values, target = with_target(table, target, columns)
            table = files.in_memory("table", (names, values))
        if isinstance(bounds, dict):
            classes = keys.get("model") in ("logistic", "softmax")
            bounds = _bounds_file(files, bounds, target, classes, records, "add_remove" if adjacency is None else adjacency)
            records = adjacency = None
        given = dict(table=table, target=target, bounds=bounds, records=records, adjacency=adjacency, **keys)
        return ask("fit", given, file=file, progress=progress, files=files, kind=FitAnswer)
