"""From the keywords of a call to the keys of a question, and to its answer."""

from __future__ import annotations

import functools
import os

from . import _core
from ._progress import bar_for, close
from ._values import Files

_CLAIMS = ("claim", "plan")


@functools.lru_cache(maxsize=None)
def _infos(command):
    return tuple(_core.keys(command))


def claim_text(claim):
    """(3, 1e-5) as the library writes it."""
    if isinstance(claim, (tuple, list)):
        if len(claim) != 2:
            raise ValueError("claim: is not (epsilon, delta). Give two numbers.")
        return f"eps={float(claim[0])!r},delta={float(claim[1])!r}"
    if isinstance(claim, str):
        return claim
    try:
        return f"eps={float(claim)!r}"
    except TypeError:
        raise ValueError(f"claim: a {type(claim).__name__} is not (epsilon, delta). Give two numbers.") from None


def keywords(command, given, files, labels=None):
    """What was given as (path of the key, value as TOML, name for messages, keys that it replaces)."""
    infos = _infos(command)
    tables = {info["table"] for info in infos if info["table"]}
    result = []
    for name, value in given.items():
        if value is None:
            continue
        if name in tables and isinstance(value, dict):
            shapes = {info["key"]: info["shape"] for info in infos if info["table"] == name}
            for key, entry in value.items():
                if entry is not None:
                    text = files.toml(entry, f"{name}.{key}", shapes.get(key, "any"))
                    result.append(([name, key], text, f"{name}.{key}", [key]))
            continue
        known = [info for info in infos if name == info["key"] or name in info["aliases"]]
        info = known[0] if known else {"table": "", "key": name, "aliases": [], "shape": "any"}
        if name in _CLAIMS:
            value = claim_text(value)
        if info["shape"] == "texts" and isinstance(value, (list, tuple)):
            shape = "any"
        else:
            shape = info["shape"]
        path = [info["table"], name] if info["table"] else [name]
        label = (labels or {}).get(name, name)
        result.append((path, files.toml(value, label, shape), label, [info["key"], *info["aliases"]]))
    return result


def watched(work, files, progress):
    """Calls work(bar); errors call the files of one call by their keywords."""
    bar = bar_for(progress)
    try:
        return work(bar)
    except (ValueError, ArithmeticError, OSError, RuntimeError) as error:
        if len(error.args) != 1:
            raise
        text = files.renamed(str(error))
        if text == str(error):
            raise
        raise type(error)(text) from None
    finally:
        close(bar)


def ask(command, given, *, file="", progress=None, files=None, kind=None, labels=None, force=False):
    """The answer of the library to a question by keys."""
    from ._answer import Answer

    with files or Files() as files:
        keys = keywords(command, given, files, labels)
        found = watched(lambda bar: _core.ask(command, os.fspath(file), keys, files.table, force, bar), files, progress)
        return (kind or Answer)(found, files.names)
