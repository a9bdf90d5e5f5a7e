"""What questions are answered with: numbers with their claims, tables, text, a page."""

from __future__ import annotations

import html as _html
import json
import os
from typing import Any, NamedTuple

from . import _core
from ._core import Claimed
from ._quantities import (
    AccountNumbers,
    AuditNumbers,
    BoundNumbers,
    ClaimedNumbers,
    DesignNumbers,
    QuadraticNumbers,
    RowsNumbers,
)
from ._values import require_new


class Result(NamedTuple):
    """One number of an answer."""

    quantity: str  #: stable name: "epsilon_lower"
    of: dict  #: of what: {"delta": 1e-05}, {"row": 170} (rows count from 1, as people do)
    value: Any  #: a Claimed; a plain number or text where nothing is claimed; None where there is none


def _cell(cell):
    """A cell of the JSON of a document as a value."""
    if isinstance(cell, dict):
        if "claim" not in cell:
            return None
        return Claimed(_number(cell["value"]), cell["claim"], cell["method"], cell["assumptions"], cell["confidence"])
    return _number(cell)


def _number(value):
    return {"inf": float("inf"), "-inf": float("-inf")}.get(value, value) if isinstance(value, str) else value


def _plain(value):
    return value.value if isinstance(value, Claimed) else value


def _pandas():
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    return pandas


class Table:
    """A table of an answer: `rows` are dicts from the keys of columns to values."""

    def __init__(self, block):
        self.key = block["key"]
        self.title = block["title"]
        self.columns = [column["key"] for column in block["columns"]]
        self.rows = [{key: _cell(cell) for key, cell in row.items()} for row in block["rows"]]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, column):
        return [row[column] for row in self.rows]

    def to_dict(self):
        return {key: [_plain(row[key]) for row in self.rows] for key in self.columns}

    def to_pandas(self):
        return _pandas().DataFrame(self.to_dict(), columns=self.columns)

    def __repr__(self):
        return f"Table({self.title!r}, {len(self.rows)} rows: {', '.join(self.columns)})"


class Answer:
    """The answer to a question.

    `print(answer)` is what the command line prints. Its numbers, each a `Claimed`, are attributes (`answer.advantage`,
    `answer.kl.forward`), and by their names in JSON `answer["kl_forward"]`, `answer.get(...)`; `tables`, `to_dict()` and `to_pandas()` are everything; `save("page.html")` writes the page with its figures.
    """

    def __init__(self, found, names=()):
        self._found = found
        self._names = list(names)
        self._inputs = [path for path in found.inputs if path]
        self._json = None

    def _renamed(self, text):
        for path, name in self._names:
            text = text.replace(path, name)
        return text

    @property
    def verdict(self) -> str:
        """What became of the claim: 'none', 'holds', 'not_refuted', 'open' or 'violated'."""
        return self._found.verdict

    @property
    def stopped(self) -> bool:
        """Whether the work was stopped before its end."""
        return self._found.stopped

    def to_json(self, full: bool = True) -> str:
        return self._renamed(self._found.json(full))

    def to_dict(self) -> dict[str, Any]:
        """The document, as `--json` of the command line has it (docs/json.md)."""
        if self._json is None:
            self._json = json.loads(self.to_json())
        return self._json

    @property
    def title(self) -> str:
        return self.to_dict()["title"]

    @property
    def results(self) -> list[Result]:
        """Every number of the answer."""
        of_claim = {"value", "claim", "symbol", "method", "assumptions", "confidence", "quantity", "reason"}
        return [
            Result(
                row["quantity"],
                {key: _number(value) for key, value in row.items() if key not in of_claim},
                _cell(row if "claim" in row else row["value"]),
            )
            for row in self.to_dict()["results"]
        ]

    def find(self, quantity: str, **of: Any) -> list[Result]:
        """The results of that name, of that delta, row, time, ..."""
        return [result for result in self.results
                if result.quantity == quantity and all(result.of.get(key) == value for key, value in of.items())]

    def get(self, quantity: str, **of: Any) -> Any:
        """The one number of that name, and of that delta, row, time, ...; KeyError if there is none, or more than one."""
        found = self.find(quantity, **of)
        if len(found) == 1:
            return found[0].value
        if not found:
            raise KeyError(f"no {quantity} {of or ''}: there are {', '.join(sorted({r.quantity for r in self.results}))}")
        which = ", ".join(str(result.of) for result in found[:4])
        raise KeyError(f"{len(found)} numbers are called {quantity}: say which, of {which}{', ...' if len(found) > 4 else ''}")

    def __getitem__(self, quantity: str) -> Any:
        return self.get(quantity)

    @property
    def verdicts(self):
        """The claims that were checked, as dicts."""
        return self.to_dict()["verdicts"]

    @property
    def tables(self) -> dict[str, Table]:
        blocks = self.to_dict()["blocks"]
        return {block["key"]: Table(block) for block in blocks if block["type"] == "table"}

    @property
    def figures(self):
        """The data of the figures by name, as docs/json.md describes them."""
        return {block["key"]: block for block in self.to_dict()["blocks"] if block["type"] == "figure"}

    @property
    def statements(self) -> list[str]:
        return [block["text"] for block in self.to_dict()["blocks"] if block["type"] == "statement"]

    def to_pandas(self):
        """The numbers, a row each."""
        rows = []
        for quantity, of, value in self.results:
            claimed = value.to_dict() if isinstance(value, Claimed) else {"value": value}
            rows.append({"quantity": quantity, **of, **claimed})
        return _pandas().DataFrame(rows)

    @property
    def _shown(self):
        """What is shown: with the names of keywords before lines are broken and titles underlined."""
        if not self._names:
            return self._found
        if "_named" not in self.__dict__:
            self._named = _core.read_back(self.to_json(full=False), self.to_json(), self.verdict, self.stopped)
        return self._named

    def text(self, full: bool = False, width: int = 100) -> str:
        """What the command line prints, in the words of Python; with `full`, what it prints with --full."""
        return self._shown.text(full, width)

    def to_html(self) -> str:
        """The self-contained page with figures."""
        return self._shown.html()

    def save(self, path: Any, force: bool = False) -> None:
        """Writes the page (.html), the document (.json) or the text (.txt), by the suffix; an existing file is replaced only with `force`."""
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        kinds = {".html": self.to_html, ".htm": self.to_html, ".json": self.to_json, ".txt": lambda: self.text(full=True)}
        if suffix not in kinds:
            raise ValueError(f"path: {os.fspath(path)} ends in neither .html, .json nor .txt.")
        require_new(path, force)
        _core.write(os.fspath(path), kinds[suffix](), self._inputs, force)

    def __str__(self):
        return self.text().rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self):
        page = _html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" title="{_html.escape(self.title)}"></iframe>'

    def _as_value(self, files, name):
        """As an input of report()."""
        path = files.path(name, ".json")
        self.save(path)
        return path

    def __getstate__(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("_found", "_json", "_named")}
        found = (self._found.json(False), self._found.json(True), self.verdict, self.stopped)
        return {"state": state, "found": found, "kept": self._kept()}

    def __setstate__(self, pickled):
        self.__dict__.update(pickled["state"])
        self._json = None
        self._found = _core.read_back(*pickled["found"])
        self.__dict__.update(pickled["kept"])

    def _kept(self):
        """What a pickle keeps beside the document."""
        return {}


class QuadraticAnswer(QuadraticNumbers, Answer):
    """What the parameters of a quadratic problem reveal."""


class BoundAnswer(BoundNumbers, Answer):
    """How far apart two stochastic differential equations can be."""


class RowsAnswer(RowsNumbers, Answer):
    """The risk of every row of a table."""

    @property
    def risks(self) -> dict[str, Any]:
        """Every row in the order of the table, as arrays by name; `row` counts from 0. The arrays are the answer's own memory: read-only."""
        if "_risks" not in self.__dict__:
            self._risks = self._found.columns()
        return self._risks

    def to_pandas(self):
        """The risk of every row, a row each."""
        return _pandas().DataFrame(self.risks, index=self.__dict__.get("_index"))

    def _kept(self):
        return {"_risks": self.risks}


class DesignAnswer(DesignNumbers, Answer):
    """A noise covariance, and what it achieves."""

    @property
    def covariance(self) -> dict[str, Any] | None:
        """Its parts, as covariance files name them: {"variances": ...}, {"diagonal": ..., "factor": ...}; None of a frontier."""
        if "_covariance" not in self.__dict__:
            self._covariance = self._found.covariance()
        return self._covariance

    @property
    def matrix(self) -> Any:
        """The whole matrix; None of a frontier."""
        if "_matrix" not in self.__dict__:
            self._matrix = self._found.matrix()
        return self._matrix

    def _as_value(self, files, name):
        """As the noise of another question."""
        if self.covariance is None:
            raise ValueError(f"{name}: a frontier is many designs. Ask for one of them.")
        if name.startswith("input"):
            return super()._as_value(files, name)
        return files.covariance(self.covariance, name)

    def _kept(self):
        return {"_covariance": self.covariance, "_matrix": self.matrix}


class AuditAnswer(AuditNumbers, Answer):
    """What scores of trained models show."""

    @property
    def epsilon(self) -> ClaimedNumbers | None:
        """The lower bound on epsilon, at the (first) delta that was asked about; None where nothing is bounded. All bounds are
        `epsilon.lower`, the most that could be shown `epsilon.maximum`, what is proven of a study `epsilon.proven`."""
        found = self.find("epsilon_lower")
        return ClaimedNumbers(found[0].value, self, "audit", "epsilon") if found else None

    @property
    def maximum(self) -> Claimed:
        """The most that so many models could have shown."""
        return self.find("epsilon_maximum")[0].value


class AccountAnswer(AccountNumbers, Answer):
    """What a private training guarantees."""

    @property
    def epsilon(self) -> ClaimedNumbers:
        """The proven upper bound at the delta of the question, of the first setting. Those of all settings are `epsilon.upper`; beside
        them stand `epsilon.lower`, `epsilon.renyi` and `epsilon.clt`."""
        return ClaimedNumbers(self.find("epsilon_upper")[0].value, self, "account", "epsilon")

    @property
    def noise_multiplier(self) -> float | None:
        """What was found for a target; None where none was sought."""
        return self.__dict__.get("_noise_multiplier", self._found.noise_multiplier)

    @property
    def accountant(self):
        """An Accountant with these releases, to go on from. ValueError where several settings were compared: it is about one run."""
        from .accounting import Accountant

        releases = self.__dict__.get("_releases", self._found.kept_text)
        if not releases:
            raise ValueError("account: several noise multipliers were compared. An accountant is about one run: pass the one that is used.")
        return Accountant._from_text(releases)

    def _kept(self):
        return {"_noise_multiplier": self.noise_multiplier, "_releases": self._found.kept_text}
