"""Data frames and arrays as tables with named columns."""

from __future__ import annotations

import decimal
import numbers

from . import _core
from ._values import to_doubles


def _column(values, name):
    """A vector of doubles, NaN where a value is missing; or texts, empty where missing."""
    import numpy as np

    gone = None
    if np.ma.isMaskedArray(values):
        gone = np.ma.getmaskarray(values)
        values = np.ma.getdata(values)
    elif hasattr(values, "isna"):  # pandas: extension types have missing values of their own
        gone = np.asarray(values.isna())
        if str(values.dtype) in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32",
                                 "Float64", "boolean"):
            values = values.to_numpy(dtype="float64", na_value=np.nan)
        else:
            values = np.asarray(values)
    elif hasattr(values, "is_null"):  # polars, Arrow
        gone = np.asarray(values.is_null())
        values = np.asarray(values)
    else:
        values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{name}: has {values.ndim} axes. A column is one vector.")
    gone = None if gone is None else np.asarray(gone, dtype=bool)
    left_out = gone.tolist() if gone is not None else [False] * len(values) if values.dtype.kind not in "biuf" else []
    if values.dtype.kind == "O":
        there = [value for value, out in zip(values.tolist(), left_out) if not out and value is not None]
        if there and all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in there):  # with None among them
            values = np.array([np.nan if value is None else float(value) for value in values.tolist()])
    if values.dtype.kind in "biuf":
        doubles = to_doubles(values, name)
        if np.isinf(doubles).any():
            raise ValueError(f"{name}: row {int(np.isinf(doubles).argmax())} is infinite. Give finite numbers.")
        if gone is not None and gone.any():
            doubles = np.where(gone, np.nan, doubles)
        return doubles
    if values.dtype.kind == "c":
        raise ValueError(f"{name}: has complex numbers. Give real ones.")
    if values.dtype.kind in "mM":
        raise ValueError(f"{name}: has dates or durations. Give numbers, or texts as categories.")
    return ["" if out or value is None else str(value) for value, out in zip(values.tolist(), left_out)]


def _arrow(table):
    """What speaks Arrow's protocol, as its table."""
    try:
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError(f"table: a {type(table).__name__} needs pyarrow to be read: pip install pyarrow") from None
    return pyarrow.table(table)


def columns_of(table, names=None):
    """Names and columns of a data frame, a dict of columns or a matrix."""
    import numpy as np

    if isinstance(table, dict):
        pairs = list(table.items())
    elif hasattr(table, "column_names"):  # Arrow
        pairs = [(name, table.column(i)) for i, name in enumerate(table.column_names)]
    elif hasattr(table, "columns") and type(table).__module__.partition(".")[0] not in ("duckdb", "_duckdb", "ibis"):
        pairs = [(name, table[name]) for name in table.columns]
    elif hasattr(table, "__arrow_c_stream__"):
        return columns_of(_arrow(table))
    else:
        masked = np.ma.isMaskedArray(table)
        matrix = table if masked else np.asarray(table)
        if matrix.ndim != 2:
            raise ValueError(f"table: a {type(table).__name__} is no table. Give a data frame, a dict of columns, or a matrix with a row per record "
                             f"(this has {matrix.ndim} axes).")
        if matrix.dtype.names:
            pairs = [(name, matrix[name]) for name in matrix.dtype.names]
        else:
            names = [f"x{i}" for i in range(matrix.shape[1])] if names is None else list(names)
            if len(names) != matrix.shape[1]:
                raise ValueError(f"columns: {len(names)} names for {matrix.shape[1]} columns. Give one for each.")
            pairs = [(name, matrix[:, i]) for i, name in enumerate(names)]
    if not pairs:
        raise ValueError("table: has no columns. Give a data frame, a dict of columns, or a matrix with a row per record.")
    texts = [str(name) for name, _ in pairs]
    if len(set(texts)) != len(texts):
        raise ValueError("table: two columns have the same name. Rename one of them.")
    return texts, [_column(values, name) for name, (_, values) in zip(texts, pairs)]


def with_target(table, target, columns=None):
    """Names and columns of a table, and the name of its target, which may be a name, a position, or the values themselves."""
    names, values = columns_of(table, columns)
    if hasattr(target, "__index__") and not hasattr(target, "__len__"):
        at = target.__index__()
        if not -len(names) <= at < len(names):
            raise ValueError(f"target: there is no column {at}, the table has {len(names)}.")
        return names, values, names[at]
    if target is None or isinstance(target, str):
        return names, values, target
    if "target" in names:
        raise ValueError("target: its values are given, and the table has a column of that name. Rename the column.")
    return [*names, "target"], [*values, _column(target, "target")], "target"


def write(path, names, columns):
    _core.write_table(path, names, columns)
