"""Parameters between PyTorch's state_dict, vectors, and the files of `sfumato train`."""

from __future__ import annotations

import io
import os

import numpy as np
import torch

from .. import _core
from .._values import require_new


def trained(model):
    """Names and parameters that are trained, in the order of the model: the order of every vector here."""
    return [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]


def vector_of(values, model):
    """A vector in the order of the model's trained parameters, from a dict in the layout of its state_dict, a vector, or a number.

    Variances, covariances and directions are given so: {"fc.weight": tensor, ...}.
    """
    parameters = trained(model)
    size = sum(parameter.numel() for _, parameter in parameters)
    if isinstance(values, dict):
        known = {name for name, _ in parameters}
        wrong = sorted(set(values) ^ known)
        if wrong:
            raise ValueError(f"state_dict: {wrong[0]} is {'missing' if wrong[0] in known else 'no trained parameter'}.")
        parts = []
        for name, parameter in parameters:
            part = torch.as_tensor(values[name], dtype=torch.float64)
            if part.numel() != 1 and part.shape != parameter.shape:
                raise ValueError(f"{name}: has shape {tuple(part.shape)}, the parameter {tuple(parameter.shape)}.")
            parts.append(part.expand(parameter.shape).reshape(-1))
        return torch.cat(parts)
    vector = torch.as_tensor(np.asarray(values) if not torch.is_tensor(values) else values, dtype=torch.float64).reshape(-1)
    if vector.numel() == 1:
        return vector.expand(size).clone()
    if vector.numel() != size:
        raise ValueError(f"vector: has {vector.numel()} entries, the model {size} parameters.")
    return vector


def covariance_parts(covariance, model, name):
    """(diagonal, factor, matrix) of a design, of parts as covariance files name them, or of variances; what it has not is None."""
    parts = getattr(covariance, "covariance", covariance)  # of a DesignAnswer
    for kind in ({"variance", "dim"}, {"variances"}, {"matrix"}):
        if isinstance(parts, dict) and set(parts) == kind:
            parts = parts[min(kind - {"dim"})]
    if isinstance(parts, dict) and set(parts) == {"diagonal", "factor"}:
        diagonal = vector_of(parts["diagonal"], model)
        factor = torch.as_tensor(np.asarray(parts["factor"]), dtype=torch.float64)
        if factor.ndim != 2 or len(factor) != len(diagonal):
            raise ValueError(f"{name}: its factor has shape {tuple(factor.shape)}, the model {len(diagonal)} parameters.")
        if not torch.isfinite(factor).all():
            raise ValueError(f"{name}: its factor has an entry that is not finite.")
        return diagonal, factor, None
    if not isinstance(parts, dict) and np.ndim(parts) == 2:
        return None, None, torch.as_tensor(np.asarray(parts), dtype=torch.float64)
    return vector_of(parts, model), None, None


def add_(model, vector, scale=1.0):
    """Adds a vector to the parameters, in place."""
    at = 0
    with torch.no_grad():
        for _, parameter in trained(model):
            part = vector[at : at + parameter.numel()].reshape(parameter.shape)
            parameter.add_(part.to(parameter.dtype), alpha=scale)
            at += parameter.numel()


def load_parameters(path):
    """A state_dict from a file of `sfumato train --out` (NAME.d.npz): model.load_state_dict(load_parameters(path))."""
    with np.load(path) as file:
        return {name: torch.from_numpy(np.array(file[name])) for name in file.files if not name.startswith("meta")}


def save_parameters(state_dict, path, force=False):
    """Writes a state_dict as such a file, whole or not at all; an existing file is replaced only with `force`."""
    path = os.fspath(path)
    if not path.endswith(".npz"):
        raise ValueError(f"path: {path} does not end in .npz.")
    require_new(path, force)
    arrays = io.BytesIO()
    np.savez(arrays, **{name: value.detach().cpu().numpy() for name, value in state_dict.items()})
    _core.write(path, arrays.getvalue(), [], force)
