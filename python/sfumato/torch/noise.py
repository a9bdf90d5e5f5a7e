"""Noise on the steps of any optimiser: the paper's, and designed covariances."""

from __future__ import annotations

import torch

from .. import _core
from .states import add_, covariance_parts, trained, vector_of

_POLICIES = ("none", "isotropic", "isotropic_per_layer", "anisotropic", "floored", "fixed")


class AnisotropicSGD:
    """An optimiser whose steps are followed by noise N(0, S) on the parameters.

    policy                 S
    isotropic              variance
    isotropic_per_layer    variance * max |g| over the tensor
    anisotropic            variance * |g_i|
    floored                variance * max(|g_i|, floor)
    fixed                  variance * covariance: what `sfumato.design` found, a vector, or a dict in state_dict layout

    There is no guarantee for any of them: gradients are not bounded, and noise that is scaled by the gradient tells about the
    data itself; `why_no_guarantee` says so. Use PrivateOptimizer for one.

    `model` is needed where a covariance is given in the layout of its state_dict; vectors are in the order of the optimiser's parameters without it.

    >>> model = torch.nn.Linear(3, 1)
    >>> optimizer = AnisotropicSGD(torch.optim.SGD(model.parameters(), lr=0.1), policy="anisotropic", variance=1e-3)
    >>> model(torch.ones(2, 3)).sum().backward()
    >>> optimizer.step()
    """

    def __init__(self, optimizer, model=None, policy=None, *, variance=1.0, floor=0.0, covariance=None, generator=None):
        if isinstance(model, str):
            raise TypeError(f"model: {model!r} is a text. Give the policy by its name: policy={model!r}.")
        policy = policy or ("fixed" if covariance is not None else "anisotropic")
        if policy not in _POLICIES:
            raise ValueError(f"policy: {policy!r} is unknown. Use one of {', '.join(_POLICIES)}.")
        if (policy == "fixed") != (covariance is not None):
            raise ValueError("covariance: goes with the policy 'fixed', which needs it.")
        if not variance > 0 and policy != "none":
            raise ValueError(f"variance: {variance} is not a positive number.")
        if policy == "floored" and not floor > 0:
            raise ValueError(f"floor: {floor} is not a positive number.")
        self.optimizer = optimizer
        self.model = model = _OfOptimizer(optimizer) if model is None else model
        self.policy = policy
        self.variance = float(variance)
        self.floor = float(floor)
        self.generator = generator
        self._root = None if covariance is None else _root(covariance, model)

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def why_no_guarantee(self):
        """Why there is none, and what one would need."""
        if self.policy in ("isotropic", "fixed"):
            return ("the gradient of a record is not bounded, so that no noise hides it whatever the data: clip the gradients record by "
                    "record (PrivateOptimizer)")
        if self.policy == "none":
            return "there is no noise"
        return _core.GRADIENT_SCALED_WARNING

    def guarantee(self, delta=None):
        """None: there is none. `why_no_guarantee` says why."""
        return None

    def zero_grad(self, *arguments, **keywords):
        self.optimizer.zero_grad(*arguments, **keywords)

    def variances(self):
        """S of the step that the gradients now make, a vector; not of a covariance that is no diagonal."""
        parts = []
        for _, parameter in trained(self.model):
            size = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.abs()
            if self.policy == "none":
                size = torch.zeros_like(size)
            elif self.policy == "isotropic":
                size = torch.ones_like(size)
            elif self.policy == "isotropic_per_layer":
                size = torch.full_like(size, float(size.max()))
            elif self.policy == "floored":
                size = size.clamp(min=self.floor)
            parts.append(size.reshape(-1).double())
        return self.variance * torch.cat(parts)

    def step(self, closure=None):
        if self.policy == "fixed":
            noise = self.variance**0.5 * self._root(self.generator)
        elif self.policy == "none":
            return self.optimizer.step(closure)
        else:
            if closure is not None and self.policy != "isotropic":
                raise ValueError(f"closure: the noise of the policy {self.policy!r} is scaled by the gradient, which must be there before the "
                                 "step. Call backward() and then step() without a closure.")
            deviations = self.variances().sqrt()  # of the gradient before the step
            noise = deviations * torch.randn(deviations.shape, dtype=torch.float64, generator=self.generator).to(deviations.device)
        loss = self.optimizer.step(closure)
        add_(self.model, noise.to(next(self.model.parameters()).device))
        return loss

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state)


class _OfOptimizer:
    """The parameters of an optimiser in the place of a model."""

    def __init__(self, optimizer):
        self._named = [(f"{group}.{i}", parameter) for group, values in enumerate(optimizer.param_groups)
                       for i, parameter in enumerate(values["params"])]

    def named_parameters(self):
        return iter(self._named)

    def parameters(self):
        return (parameter for _, parameter in self._named)


def _root(covariance, model):
    """A function that draws N(0, covariance)."""
    diagonal, factor, matrix = covariance_parts(covariance, model, "covariance")

    def normal(count, generator):
        return torch.randn(count, dtype=torch.float64, generator=generator)

    if matrix is not None:
        size = vector_of(0.0, model).numel()
        if matrix.shape != (size, size):
            raise ValueError(f"covariance: has shape {tuple(matrix.shape)}, the model {size} parameters.")
        lower = torch.linalg.cholesky(matrix)
        return lambda generator: lower @ normal(size, generator)
    if not (torch.isfinite(diagonal).all() and (diagonal >= 0).all()):
        raise ValueError("covariance: a variance is negative or not finite.")
    root = diagonal.sqrt()
    if factor is None:
        return lambda generator: root * normal(len(root), generator)
    return lambda generator: root * normal(len(root), generator) + factor @ normal(factor.shape[1], generator)
