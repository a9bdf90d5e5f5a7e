"""Data frames and arrays as tables with named columns."""

from __future__ import annotations

from . import _core


def _column(values, name):
    """A vector of doubles, NaN where a value is missing; or texts, empty where missing."""
    import numpy as np

    mask = None
    if np.ma.isMaskedArray(values):
        mask = np.ma.getmaskarray(values)
        values = np.ma.getdata(values)
    if hasattr(values, "isna"):  # pandas: extension types have missing values of their own
        missing = values.isna().to_numpy()
        if str(values.dtype) in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32",
                                 "Float64", "boolean"):
            values = values.to_numpy(dtype="float64", na_value=np.nan)
        else:
            values = values.to_numpy()
    elif hasattr(values, "is_null"):  # polars
        missing = values.is_null().to_numpy()
        values = values.to_numpy()
    else:
        missing = None
        values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{name}: has {values.ndim} axes. A column is one vector.")
    if values.dtype.kind in "biuf":
        values = values.astype(np.float64)  # a copy: what is missing is marked in it
        if np.isinf(values).any():
            raise ValueError(f"{name}: row {int(np.isinf(values).argmax())} is infinite. Give finite numbers.")
        for gone in (mask, missing):
            if gone is not None:
                values[gone] = np.nan
        return values
    if values.dtype.kind == "c":
        raise ValueError(f"{name}: has complex numbers. Give real ones.")
    gone = np.zeros(len(values), dtype=bool)
    for more in (mask, missing):
        if more is not None:
            gone |= np.asarray(more)
    texts = []
    for value, left_out in zip(values.tolist(), gone.tolist()):
        texts.append("" if left_out or value is None else str(value))
    return texts


def columns_of(table, names=None):
    """Names and columns of a data frame, a dict of columns or a matrix."""
    import numpy as np

    if isinstance(table, dict):
        pairs = list(table.items())
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        pairs = [(name, table[name]) for name in table.columns]
    else:
        masked = np.ma.isMaskedArray(table)
        matrix = table if masked else np.asarray(table)
        if matrix.ndim != 2:
            raise ValueError(f"table: has {matrix.ndim} axes. Give a data frame, or a matrix with a row per record.")
        if matrix.dtype.names:
            pairs = [(name, matrix[name]) for name in matrix.dtype.names]
        else:
            names = [f"x{i}" for i in range(matrix.shape[1])] if names is None else list(names)
            if len(names) != matrix.shape[1]:
                raise ValueError(f"columns: {len(names)} names for {matrix.shape[1]} columns. Give one for each.")
            pairs = [(name, matrix[:, i]) for i, name in enumerate(names)]
    texts = [str(name) for name, _ in pairs]
    if len(set(texts)) != len(texts):
        raise ValueError("table: two columns have the same name. Rename one of them.")
    return texts, [_column(values, name) for name, (_, values) in zip(texts, pairs)]


def write(path, names, columns):
    _core.write_table(path, names, columns)
