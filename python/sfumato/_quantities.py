"""The numbers of answers as attributes: answer.advantage, answer.epsilon.upper, from the list that the library has of them."""

from __future__ import annotations

from collections.abc import Sequence

from . import _core
from ._core import Claimed


class Numbers(Sequence):
    """The numbers of one name in an answer, in its order: `answer.advantage`.

    Of a single one `value`, `claim`, `method`, `assumptions` and `confidence` are its own. Of several `at(time=10)` is the one that
    belongs there, `[0]` the first, and `of` says what each belongs to.
    """

    def __init__(self, name, results, parts=()):
        self._name = name
        self._results = list(results)
        self._parts = dict(parts)

    def __getitem__(self, index):
        return [result.value for result in self._results[index]] if isinstance(index, slice) else self._results[index].value

    def __len__(self):
        return len(self._results)

    @property
    def of(self):
        """What each number belongs to, a dict each: {"time": 10.0}."""
        return [result.of for result in self._results]

    def at(self, **of):
        """The number that belongs there; KeyError if none does, or several."""
        found = [result for result in self._results if all(result.of.get(key) == value for key, value in of.items())]
        if len(found) == 1:
            return found[0].value
        there = "; ".join(", ".join(f"{key}={value}" for key, value in result.of.items()) for result in self._results[:4])
        what = "no" if not found else str(len(found))
        raise KeyError(f"{what} {self._name} at {of}: there are {len(self)}{', ' + there if there else ''}{', ...' if len(self) > 4 else ''}")

    @property
    def only(self):
        """The number, if it is one; ValueError if there are several, or none."""
        if len(self) != 1:
            raise ValueError(f"{self._name}: there are {len(self)} such numbers. Say which by .at(...), or take one by its position.")
        return self[0]

    value = property(lambda self: getattr(self.only, "value", self.only), doc="The number itself, a float.")
    claim = property(lambda self: self.only.claim, doc="'exact', 'upper_bound', 'lower_bound' or 'estimate'.")
    method = property(lambda self: self.only.method, doc="How it was computed.")
    assumptions = property(lambda self: self.only.assumptions, doc="What it rests on.")
    confidence = property(lambda self: self.only.confidence, doc="Of a statistical bound; else None.")

    def __dir__(self):
        return [*super().__dir__(), *self._parts]

    def __getattr__(self, part):
        if not part.startswith("_") and part in self._parts:
            return self._parts[part]
        raise AttributeError(f"{self._name if '_name' in self.__dict__ else 'numbers'} have no {part}")

    def __repr__(self):
        if not self._results and self._parts:
            return f"Numbers({', '.join(f'{self._name}.{part}' for part in self._parts)})"
        shown = ", ".join(repr(value) for value in self[:3])
        return f"Numbers({self._name}: {shown}{', ...' if len(self) > 3 else ''})"


def _attribute(command, name, quantities):
    """A property for one attribute: its own numbers, and those of its parts."""
    own = next((quantity["name"] for quantity in quantities if quantity["attribute"] == name), None)

    def get(answer):
        return Numbers(name, answer.find(own) if own else [], _parts_of(answer, command, name))

    lines = []
    for quantity in quantities:
        part = quantity["attribute"][len(name):]
        at = f" (of {quantity['of']})" if quantity["of"] else ""
        lines.append(f"{part + ': ' if part else ''}{quantity['meaning']}{at}.")
    return property(get, doc="\n\n".join(lines))


def _parts_of(answer, command, name):
    """The numbers that stand beside one of an answer: {"lower": ...}."""
    return {
        quantity["attribute"].partition(".")[2]: Numbers(quantity["attribute"], answer.find(quantity["name"]))
        for quantity in _core.quantities()
        if quantity["command"] == command and quantity["attribute"].startswith(name + ".")
    }


class ClaimedNumbers(Claimed):
    """A number that has others beside it: `answer.epsilon` is the bound to quote, `answer.epsilon.upper`, `.lower`, ... are all of them."""

    def __init__(self, claimed, answer, command, name):
        super().__init__(claimed.value, claimed.claim, claimed.method, claimed.assumptions, claimed.confidence)
        self._parts = _parts_of(answer, command, name)

    def __dir__(self):
        return [*super().__dir__(), *self._parts]

    def __getattr__(self, part):
        parts = self.__dict__.get("_parts", {})
        if part in parts:
            return parts[part]
        raise AttributeError(f"there is no {part}: there are {', '.join(parts)}")


def _mixin(command):
    """The numbers of a command as properties, for the class of its answers."""
    names = {}
    for quantity in _core.quantities():
        if quantity["command"] == command and quantity["attribute"]:
            names.setdefault(quantity["attribute"].partition(".")[0], []).append(quantity)
    return type(f"{command.capitalize()}Numbers", (), {name: _attribute(command, name, names[name]) for name in names})


AccountNumbers = _mixin("account")
AuditNumbers = _mixin("audit")
BoundNumbers = _mixin("bound")
DesignNumbers = _mixin("design")
FitNumbers = _mixin("fit")
QuadraticNumbers = _mixin("quadratic")
RowsNumbers = _mixin("rows")
