"""Values of Python as the library reads them: TOML, or a file where they are large or tables."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile

_INLINE = 64  # numbers; more of them are handed over as a file, with the same bits
_COVARIANCE = ({"variance", "dim"}, {"variances"}, {"diagonal", "factor"}, {"matrix"})


def require_new(path, force):
    """What is there is replaced only with `force`."""
    if not force and os.path.isfile(path):
        raise FileExistsError(f"path: {os.fspath(path)} exists. Choose another name, or give force=True.")


def _is_array(value):
    return hasattr(value, "__array__") and not isinstance(value, (str, bytes))


def _numbers(values, name):
    """An array of doubles, or a refusal that names the keyword."""
    import numpy as np

    if np.ma.isMaskedArray(values):
        if np.ma.getmaskarray(values).any():
            raise ValueError(f"{name}: has masked entries. Fill them or leave them out.")
        values = np.ma.getdata(values)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:  # ragged lists, tensors that need .detach()
        raise ValueError(f"{name}: is no array of numbers ({error}).") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: has entries of type {array.dtype}. Give real numbers.")
    if array.ndim > 2:
        raise ValueError(f"{name}: has {array.ndim} axes. Give a vector or a matrix.")
    return np.ascontiguousarray(to_doubles(array, name))


def to_doubles(array, name):
    """Numbers as doubles; refused where digits would be lost unnoticed."""
    import numpy as np

    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise ValueError(f"{name}: {array.dtype} has more digits than are kept. Give float64.")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and max(-int(array.min()), int(array.max())) > 2**53:
        raise ValueError(f"{name}: has integers beyond 2^53, which lose digits as float64. Leave such a column out, or give float64.")
    return array.astype(np.float64, copy=False)


class Files:
    """Files for the time of one call, and what messages call them instead."""

    def __init__(self):
        self._folder = None
        self.names = []  # (path, what to call it)
        self.table = None  # (names, columns) of the table that is no file

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def path(self, name, suffix):
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="sfumato-")
        path = os.path.join(self._folder, f"{name}-{len(self.names)}{suffix}")
        self.names.append((path, name))
        return path

    def in_memory(self, name, table):
        """Hands over the table that messages call so without a file; returns that name."""
        self.table = table
        self.names.append((name, name))
        return name

    def renamed(self, text):
        for path, name in self.names:
            text = text.replace(f"{name} ({path})", name).replace(path, name)
        return text

    def array(self, values, name):
        import numpy as np

        path = self.path(name, ".npy")
        np.save(path, _numbers(values, name))
        return path

    def covariance(self, parts, name):
        import numpy as np

        path = self.path(name, ".npz")
        np.savez(path, **{key: np.asarray(part) for key, part in parts.items()})
        return path

    def toml(self, value, name, shape="any"):
        """The value as TOML. `shape` is that of its key: text keys of arrays are paths."""
        if hasattr(value, "_as_value"):  # answers, ledgers
            value = value._as_value(self, name)
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            return "true" if value else "false"
        if isinstance(value, (str, os.PathLike)):
            return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return _number(value, name)
        if isinstance(value, dict):
            if set(value) in _COVARIANCE:
                return self.toml(self.covariance(value, name), name)
            pairs = (f"{key} = {self.toml(entry, f'{name}.{key}')}" for key, entry in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, (list, tuple, range)):
            numbers = not any(isinstance(entry, (str, dict, os.PathLike)) or hasattr(entry, "_as_value") for entry in value)
            if numbers and (shape == "text" or _size(value) > _INLINE):
                return self.toml(self.array(value, name), name)
            return "[" + ", ".join(self.toml(entry, name) for entry in value) + "]"
        if _is_array(value):
            if getattr(value, "ndim", 1) == 0:
                return _number(float(value), name) if not _is_integer(value) else str(int(value))
            numbers = _numbers(value, name)
            if shape == "text" or (numbers.size > _INLINE and shape != "numbers"):
                return self.toml(self.array(numbers, name), name)
            return self.toml(numbers.tolist(), name, "numbers")
        if hasattr(value, "__index__"):
            return str(value.__index__())
        if hasattr(value, "__float__"):
            return _number(float(value), name)
        raise TypeError(f"{name}: a value of type {type(value).__name__} means nothing here")


def _is_integer(value):
    return getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u")


def _size(value):
    return sum(_size(entry) if isinstance(entry, (list, tuple)) else 1 for entry in value)


def _number(value, name):
    if math.isnan(value):
        raise ValueError(f"{name}: is NaN. Give a number.")
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))
