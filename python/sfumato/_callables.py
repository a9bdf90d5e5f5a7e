"""What functions of users return, as the library takes it."""

from __future__ import annotations


def points(values, rows, columns, name):
    """An array of doubles, rows x columns."""
    import numpy as np

    if hasattr(values, "detach"):  # a tensor that may need gradients
        values = values.detach()
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"{name}: the function returns masked entries. Fill them.")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        what = type(values).__name__ if array.ndim == 0 else f"entries of type {array.dtype}"
        raise ValueError(f"{name}: the function returns {what}. Return real numbers, one row per point.")
    array = array.astype(np.float64, copy=False)
    if array.shape == (rows, columns):
        return array
    if columns == 1 and array.shape == (rows,):
        return array.reshape(rows, 1)
    # One number is a constant. A vector may be what the function made of one point (x[0]): it does not stand for all of them.
    if array.ndim == 0 or (rows == 1 and array.shape == (columns,)):
        return np.broadcast_to(array, (rows, columns))
    raise ValueError(
        f"{name}: the function returns an array of shape {array.shape} for {rows} points of {columns} coordinates. "
        f"Return one row per point: ({rows}, {columns}); a constant by np.broadcast_to(value, x.shape)."
    )


def takes_time(function):
    """Whether a function is called as f(t, x), by the number of its parameters, or as f(x)."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters) >= 2
