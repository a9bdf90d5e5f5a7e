"""The norms that records are clipped in, each with the noise that goes with it: the metrics of private training (docs/train.md)."""

from __future__ import annotations

import numpy as np
import torch

from .. import _core
from .states import covariance_parts, trained

NAMES = ("isotropic", "per_layer", "whitened", "low_rank", "released", "input")


_MARGIN = 1e-6  # norm, factor and product are rounded in double precision: (parameters / 2 + 5) 2^-53 of the clip, for up to 10^9 parameters
_PIECE = 2**22  # numbers that are converted to double precision at once


def _clipped(rows, norms, clip):
    """Rows made no longer than `clip`; those whose norm is not finite contribute nothing."""
    finite = torch.isfinite(norms)
    factors = torch.where(finite, (clip / norms.clamp(min=1e-300)).clamp(max=1.0) * (1.0 - _MARGIN), 0.0)
    return torch.where(finite.reshape(-1, 1), rows, 0.0) * factors.reshape(-1, 1)


def _on_grid(rows, largest, bits):
    """Rows cut off, towards zero, to multiples of a power of two, so that sums of 2^(52 - bits) of them are exact in double precision.

    `largest` bounds the coordinates. No coordinate grows, and so no norm that is monotonic in them.
    """
    largest = torch.as_tensor(largest, dtype=torch.float64, device=rows.device)
    mantissa, _ = torch.frexp(largest)
    grid = largest / mantissa * 2.0**-bits  # both exact: a power of two, and largest < grid 2^bits
    return torch.trunc(rows / grid) * grid


def _norms(rows):
    return torch.linalg.vector_norm(rows, dim=1)


class Noise:
    """Where noise comes from: ChaCha20 with a new key of the operating system for every draw, or a seed (tests; no guarantee).

    A draw leaves nothing behind that could be copied, pickled, forked or seeded; `torch.manual_seed` has no say in it.
    """

    def __init__(self, seed=None):
        self.seed = seed
        self.drawn = 0  # streams of the seed

    def _next(self):
        self.drawn += 1
        return self.seed, self.drawn

    def normals(self, count):
        return torch.from_numpy(_core.release_normals(count, *self._next()))

    def batch(self, count, rate):
        """Which of so many records a Poisson batch has; their probability is never above the rate."""
        return torch.from_numpy(_core.poisson_batch(count, rate, *self._next()))


class Metric:
    """The Euclidean norm, and equal noise.

    Each computed row is clipped and put on a grid on which sums are exact, in any order: whatever the size of the batch, a record moves the
    computed sum by its own row and nothing else, and by no more than the clip.
    """

    conditions: tuple[str, ...] = ()

    def __init__(self, noise_multiplier, clip):
        self.clip = clip
        self.deviation = noise_multiplier * clip
        self.noise_multiplier = noise_multiplier  # what the accountant is told

    def prepare(self, accountant, noise):
        """Before the first step: what else is released."""

    def rows(self, gradients):
        """Clipped rows in coordinates of the metric, in double precision, and bounds of their coordinates."""
        return _clipped(gradients, _norms(gradients), self.clip), self.clip

    def clipped(self, gradients, records):
        """The sum of the clipped gradients of a batch of at most `records`, exact on its grid."""
        bits = 52 - max(int(records), 1).bit_length()
        if bits < 20:
            raise ValueError(f"records: {records} are too many for exact sums in double precision. At most 2^31 - 1.")
        device = gradients.device if gradients.device.type != "mps" else torch.device("cpu")  # which has no double precision
        total = torch.zeros(gradients.shape[1], dtype=torch.float64, device=device)
        for piece in gradients.split(max(1, _PIECE // max(1, gradients.shape[1]))):
            rows, largest = self.rows(piece.to(device, torch.float64))
            total += _on_grid(rows, largest, bits).sum(dim=0)
        return total

    def noise(self, size, noise):
        return self.deviation * noise.normals(size)

    def gradient(self, total):
        """A noisy sum as the gradient of the parameters."""
        return total

    def released(self, gradient, batch_size):
        """What a step has released, already divided by the expected batch size."""

    def state(self):
        return None

    def restore(self, state):
        pass


class PerLayer(Metric):
    """Each layer, the parameters of one module, is clipped by itself."""

    def __init__(self, noise_multiplier, clip, model, layer_clips=None):
        super().__init__(noise_multiplier, clip)
        names, self.sizes = [], []
        for name, parameter in trained(model):
            layer = name.rpartition(".")[0]
            if names and names[-1] == layer:
                self.sizes[-1] += parameter.numel()
            else:
                names.append(layer)
                self.sizes.append(parameter.numel())
        if layer_clips is None:
            layer_clips = [clip / len(names) ** 0.5] * len(names)
        if len(layer_clips) != len(names):
            raise ValueError(f"layer_clips: {len(layer_clips)} numbers for {len(names)} layers: {', '.join(names)}. Give one for each.")
        self.clips = [float(c) for c in layer_clips]
        self.deviations = _core.deviations_of_layers(self.clips, [float(size) for size in self.sizes], noise_multiplier)
        self.noise_multiplier = _core.multiplier_of_layers(self.clips, self.deviations)

    def rows(self, gradients):
        # A record with a layer that is not finite contributes nothing to any.
        finite = torch.isfinite(_norms(gradients)).reshape(-1, 1)
        parts = torch.where(finite, gradients, 0.0).split(self.sizes, dim=1)
        return torch.cat([_clipped(part, _norms(part), clip) for part, clip in zip(parts, self.clips)], dim=1), max(self.clips)

    def noise(self, size, noise):
        scales = torch.tensor(self.deviations, dtype=torch.float64)
        return noise.normals(size) * scales.repeat_interleave(torch.tensor(self.sizes))


class Whitened(Metric):
    """The norm sqrt(sum g_i^2 / v_i), and noise of variances proportional to v; with a factor, more noise in its directions."""

    conditions: tuple[str, ...] = ("the variances of the metric were made without the private data",)

    def __init__(self, noise_multiplier, clip, variances, factor=None):
        super().__init__(noise_multiplier, clip)
        if not (torch.isfinite(variances).all() and (variances > 0).all()):
            raise ValueError("metric: a variance is not a finite positive number.")
        mean = float(variances.double().mean())
        if not 1e-300 <= mean <= 1e300:
            raise ValueError(f"metric: the mean {mean} of its variances is not a number from 1e-300 to 1e300.")
        scale = 1.0 / mean  # a shape of mean 1: its size is the multiplier's
        self.root = (scale * variances.double()).sqrt()
        self.factor = None if factor is None else scale**0.5 * factor.double()

    def rows(self, gradients):
        root = self.root.to(gradients.device)
        return _clipped(gradients, _norms(gradients / root), self.clip), 1.01 * self.clip * root

    def noise(self, size, noise):
        drawn = noise.normals(size) * self.root
        if self.factor is not None:
            drawn = drawn + self.factor @ noise.normals(self.factor.shape[1])
        return self.deviation * drawn


class Released(Whitened):
    """As whitened, with variances that are estimated along the way from what earlier steps have released."""

    conditions: tuple[str, ...] = ()

    def __init__(self, noise_multiplier, clip, size, warm_up):
        super().__init__(noise_multiplier, clip, torch.ones(size))
        self.moments = _core.GradientMoments(size)
        self.warm_up = warm_up
        self.steps = 0

    def released(self, gradient, batch_size):
        variances = (self.deviation / batch_size * self.root.double()) ** 2
        self.moments.add(gradient.detach().double().cpu().numpy(), variances.cpu().numpy())
        self.steps += 1
        if self.steps >= self.warm_up:
            self.root = torch.from_numpy(self.moments.shape()).double().sqrt()

    def state(self):
        return {"moments": torch.from_numpy(self.moments.state()), "steps": self.steps, "warm_up": self.warm_up, "root": self.root}

    def restore(self, state):
        self.moments.restore(state["moments"].numpy())
        self.steps, self.warm_up, self.root = state["steps"], state["warm_up"], state["root"]


class Input(Metric):
    """The Euclidean norm where the inputs of the first layer are white, as far as their second moments were released."""

    conditions: tuple[str, ...] = ("the bound of the inputs and the number of records were known without the private data",)

    def __init__(self, noise_multiplier, clip, model, inputs, mu, bound=None, floor=1.0, layer=None):
        super().__init__(noise_multiplier, clip)
        if inputs is None or mu is None:
            raise ValueError("metric: 'input' needs the inputs of all records (inputs) and what their second moments may cost (metric_mu).")
        if not mu > 0:
            raise ValueError(f"metric_mu: {mu} is not a positive number.")
        self.inputs, self.mu, self.floor = inputs, float(mu), float(floor)  # inputs until they are released
        self.bound = float(inputs[0].numel() ** 0.5 if bound is None else bound)
        self.layer = _first_linear(model, inputs, layer)
        self.at = 0
        for name, parameter in trained(model):
            if name == self.layer:
                self.shape = tuple(parameter.shape)
                break
            self.at += parameter.numel()
        self.end = self.at + self.shape[0] * self.shape[1]
        self.root = None
        self.effective_dimension = None

    def prepare(self, accountant, noise):
        if self.root is not None:
            return
        multiplier = _core.multiplier_of_moments(self.mu, accountant.adjacency)
        rows = np.ascontiguousarray(self.inputs.detach().flatten(1).double().cpu().numpy())
        accountant.step(multiplier)  # before it is drawn, so that what cannot be accounted for is not released
        root, self.effective_dimension = _core.release_inputs(rows, self.bound, self.mu, self.floor, accountant.adjacency, float(len(rows)), noise.seed, None)
        self.root = torch.from_numpy(np.ascontiguousarray(root))
        self.inputs = None

    def _turned(self, values):
        """A matrix with a vector of all parameters in each row, the layer's weights times the root."""
        part = values[:, self.at : self.end].reshape(-1, self.shape[1]) @ self.root.to(values)
        return torch.cat([values[:, : self.at], part.reshape(len(values), -1), values[:, self.end :]], dim=1)

    def rows(self, gradients):
        return super().rows(self._turned(gradients))

    def gradient(self, total):
        return self._turned(total.reshape(1, -1)).reshape(-1)

    def state(self):
        return {"root": self.root, "effective_dimension": self.effective_dimension}

    def restore(self, state):
        if state["root"] is None:  # of before the first step: what was released since then stays released, and is used
            return
        self.root, self.effective_dimension = state["root"], state["effective_dimension"]


def _first_linear(model, inputs, name):
    """The name of the weights of the linear layer that reads the records themselves; found out with a record of noise."""
    size = inputs[0].numel()
    layers = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and m.in_features == size and m.weight.requires_grad}
    if name is not None and name not in layers:
        raise ValueError(f"input_layer: {name!r} is no trained linear layer of {size} inputs.")
    seen = {}
    hooks = [m.register_forward_pre_hook(lambda module, given, n=n: seen.setdefault(n, given[0])) for n, m in layers.items()]
    parameter = next(model.parameters())
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            probe = torch.randn((1, *inputs.shape[1:]), dtype=parameter.dtype).to(parameter.device)
            model(probe)
    finally:
        for hook in hooks:
            hook.remove()
    reading = [n for n, given in seen.items() if torch.equal(given.reshape(-1), probe.reshape(-1)) and name in (None, n)]
    if not reading:
        raise ValueError("metric: 'input' needs a linear layer that reads the records themselves, and this model has none. Use another metric.")
    return f"{reading[0]}.weight" if reading[0] else "weight"


def metric_of(metric, model, noise_multiplier, clip, *, layer_clips=None, inputs=None, metric_mu=None, input_bound=None, input_layer=None,
              metric_floor=1.0, steps=None):
    """The metric of a PrivateOptimizer."""
    if layer_clips is not None and not (isinstance(metric, str) and metric == "per_layer"):
        raise ValueError("layer_clips: means nothing but for metric='per_layer'.")
    if not (isinstance(metric, str) and metric == "input"):
        for name, value in (("inputs", inputs), ("metric_mu", metric_mu), ("input_bound", input_bound), ("input_layer", input_layer)):
            if value is not None:
                raise ValueError(f"{name}: means nothing but for metric='input'.")
    size = sum(parameter.numel() for _, parameter in trained(model))
    if isinstance(metric, str):
        if metric == "isotropic":
            return Metric(noise_multiplier, clip)
        if metric == "per_layer":
            return PerLayer(noise_multiplier, clip, model, layer_clips)
        if metric == "released":
            return Released(noise_multiplier, clip, size, _core.warm_up_steps(0 if steps is None else int(steps)))
        if metric == "input":
            return Input(noise_multiplier, clip, model, inputs, metric_mu, input_bound, metric_floor, input_layer)
        if metric in NAMES:
            raise ValueError(f"metric: give the {'variances' if metric == 'whitened' else 'covariance'} themselves in the place of {metric!r}.")
        raise ValueError(f"metric: {metric!r} is unknown. Use 'isotropic', 'per_layer', 'released', 'input', variances or a covariance.")
    variances, factor, matrix = covariance_parts(metric, model, "metric")
    if matrix is not None:
        raise ValueError("metric: a whole matrix is no metric here. Design it with form='diagonal' or 'low-rank'.")
    return Whitened(noise_multiplier, clip, variances, factor)
