"""What the steps of one training reveal, summed along its path."""

from __future__ import annotations

import numpy as np

from .. import _core
from .._core import Claimed


def _vector(values):
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.ascontiguousarray(np.asarray(values, dtype=np.float64).reshape(-1))


def path_kl(steps):
    """The relative entropies of steps x <- x - learning_rate g + N(0, S) of D against those of D', summed, in nats.

    `steps` has (learning_rate, gradient, gradient_prime, variances[, variances_prime]) for each step, vectors or tensors.

    >>> import numpy as np
    >>> path_kl([(0.1, np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([0.01, 0.01]))]).value
    0.5

    Its mean over runs estimates an upper bound on what the final weights reveal; the sum of one run is a random number, no bound.
    """
    total, infinite, count = 0.0, 0, 0
    for learning_rate, gradient, gradient_prime, variances, *more in steps:
        variances = _vector(variances)
        nats, coordinates = _core.step_kl(float(learning_rate), _vector(gradient), _vector(gradient_prime), variances,
                                          _vector(more[0]) if more else variances)
        total += nats
        infinite += coordinates
        count += 1
    notes = [f"{infinite} coordinates of steps reveal everything: no noise, or noise that depends on the record"] if infinite else []
    return Claimed(total, "estimate", f"KL of {count} steps along one run", notes)
