"""Shaped noise: a metric G x A for each linear and convolutional layer, as linear maps of what it reads and of the gradient of what it writes.

The gradient delta a^T of a record has, in the metric, the norm of Q delta (P a)^T with P = A^-1/2 and Q = G^-1/2: records are clipped in these
coordinates, noise is equal in them, and the steps go back through P and Q once more, which is descent preconditioned by A and G (spec 23.4, 34.3).
P and Q are known before the first step. They come from

- a private release of the second moments of what every layer reads at the initial weights: one Gaussian release more in the account;
- records that are imagined (white noise, or 1/f noise for images), which cost nothing;
- public records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch.utils.data import DataLoader

from .. import _core
from .layers import CONVOLUTIONS, read_rows, tensors, written_rows
from .probing import mapped

_WIDEST = 1024  # layers whose inputs are whitened
_PATCHES = 160  # wider patches are whitened by their channels
_POSITIONS = 64  # of a record, in the moments of a layer
_RECORDS = 64  # whose products are added before they join the sum
_IMAGINED = 512
_SOURCES = ("released", "white", "pink")


@dataclass(frozen=True)
class Shape:
    """The metric of noise="shaped".

    read      where the second moments of what layers read come from: "released" (private, paid for by `share` or `mu`), "white" or "pink" (noise
              through the network, free), inputs as a tensor of public records, or None: as they are
    written   "imagined" (gradients of noise at the output, free) or None: as they are
    share     of the squared mu of the target, for the release; `mu` gives it itself
    floor     of the eigenvalues of released moments, in multiples of the largest that their noise has
    least     of the eigenvalues of others, in multiples of their mean
    rank      directions of a layer that are whitened, at most
    """

    read: object = "released"
    written: str | None = None
    share: float = 0.15
    mu: float | None = None
    floor: float = 0.45
    least: float = 0.1
    rank: int = 32

    def __post_init__(self):
        if not (self.read is None or torch.is_tensor(self.read) or self.read in _SOURCES):
            raise ValueError(f"shape: read={self.read!r} is unknown. Use 'released', 'white', 'pink', a tensor of public inputs or None.")
        if self.written not in (None, "imagined"):
            raise ValueError(f"shape: written={self.written!r} is unknown. Use 'imagined' or None.")
        if self.mu is not None and not 0 < self.mu < math.inf:
            raise ValueError(f"shape: mu={self.mu} is not a positive number.")
        for name, low, high in (("share", 0.0, 1.0), ("floor", 0.0, 1e6), ("least", 0.0, 1e6)):
            if not low < getattr(self, name) < high:
                raise ValueError(f"shape: {name}={getattr(self, name)} is not between {low:g} and {high:g}.")
        if not (self.rank >= 1 and self.rank == int(self.rank)):
            raise ValueError(f"shape: rank={self.rank} is not a number of directions.")

    @property
    def released(self):
        return isinstance(self.read, str) and self.read == "released"


@dataclass
class Map:
    """x -> scale (x - U diag(shrink) U^T x), in each of `spread` interleaved parts of a vector (channels of patches)."""

    directions: torch.Tensor
    shrink: torch.Tensor
    scale: float
    spread: int = 1
    _cast: dict = field(default_factory=dict)

    def _in(self, x):
        key = x.dtype, x.device
        if key not in self._cast:
            size, rank = self.directions.shape
            if 2 * rank >= size:
                whole = self.scale * (torch.eye(size, dtype=torch.float64) - (self.directions * self.shrink) @ self.directions.T)
                self._cast[key] = (whole.to(x),)
            else:
                self._cast[key] = self.directions.to(x), (self.directions * self.shrink).T.contiguous().to(x)
        return self._cast[key]

    def __call__(self, x):
        if self.spread > 1:
            x = x.unflatten(-1, (-1, self.spread)).transpose(-1, -2)
        parts = self._in(x)
        x = x @ parts[0] if len(parts) == 1 else (x - (x @ parts[0]) @ parts[1]) * self.scale
        return x.transpose(-1, -2).flatten(-2) if self.spread > 1 else x

    def state(self):
        return {"directions": self.directions, "shrink": self.shrink, "scale": self.scale, "spread": self.spread}


def shapeable(module):
    return isinstance(module, torch.nn.Linear) or type(module) in CONVOLUTIONS


class _Layer:
    """What is whitened of a layer: whole patches, or their channels where they are wide."""

    def __init__(self, module):
        self.module = module
        convolution = type(module) in CONVOLUTIONS
        kernel = math.prod(module.kernel_size) if convolution else 1
        width = module.in_channels // module.groups * kernel if convolution else module.in_features
        self.spread = kernel if convolution and width > _PATCHES else 1
        self.width = width // self.spread
        self.outputs = module.out_channels // module.groups if convolution else module.out_features

    def read(self, x, places=None):
        """(records, positions, width); of a record with many positions those at `places`, which are drawn once."""
        rows = read_rows(self.module, x)
        if self.spread > 1:
            rows = rows.unflatten(-1, (self.width, self.spread)).transpose(-1, -2)
        rows = rows.reshape(len(rows), -1, self.width)
        return rows if places is None else rows[:, places]

    def written(self, g):
        rows = written_rows(self.module, g)
        return rows.reshape(len(rows), -1, self.outputs)


def _leading(matrix, rank):
    """The largest eigenvalues and their vectors."""
    if len(matrix) <= 512:
        values, vectors = torch.linalg.eigh(matrix)
        return values.flip(0)[:rank], vectors.flip(1)[:, :rank]
    shift = float(torch.linalg.vector_norm(matrix)) / math.sqrt(len(matrix))  # so that the largest are the longest too
    space = torch.randn((len(matrix), min(len(matrix), 2 * rank)), dtype=matrix.dtype, generator=torch.Generator().manual_seed(1))
    for _ in range(40):
        space = torch.linalg.qr(matrix @ space + shift * space)[0]
    values, turn = torch.linalg.eigh(space.T @ matrix @ space)
    return values.flip(0)[:rank], (space @ turn).flip(1)[:, :rank]


def map_of(moments, edge, shape, spread=1):
    """The map that whitens vectors of these mean second moments, with noise whose largest eigenvalue is about `edge`, and keeps their mean square."""
    size = len(moments)
    values, vectors = _leading(moments, min(size, shape.rank))
    trace = max(float(moments.trace()), 0.0)
    known = values > max(edge, 0.0)
    values, vectors = values[known], vectors[:, known]
    kept = (values + (values.square() - edge**2).clamp(min=0.0).sqrt()) / 2  # without what the noise adds to an eigenvalue
    rest = max(trace - float(kept.sum()), 0.0) / (size - len(kept)) if len(kept) < size else 0.0
    rest = min(rest, edge / 2) if edge else rest
    floor = shape.floor * edge if edge else shape.least * (float(kept.sum()) + rest * (size - len(kept))) / size
    if not floor > 0.0 or not math.isfinite(floor):
        return None
    total = float(kept.sum()) + rest * (size - len(kept))
    white = float((kept / (kept + floor)).sum()) + rest / (rest + floor) * (size - len(kept))
    if not total > 0.0 or not white > 0.0:
        return None
    scale = math.sqrt(total / white / (rest + floor))
    return Map(vectors, 1.0 - ((rest + floor) / (kept + floor)).sqrt(), scale, spread)


class _Watched:
    """What layers read and the gradients of what they write in passes of a model, in evaluation mode and without traces."""

    def __init__(self, model, layers):
        self.model, self.layers = model, layers
        self.read, self.output = {}, {}

    def __enter__(self):
        self.modes = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        self.hooks = [layer.module.register_forward_hook(self._seen) for layer in self.layers]
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.remove()
        for module, mode in self.modes:
            module.training = mode

    def _seen(self, module, args, output):
        self.read.setdefault(module, []).append(args[0].detach())
        self.output.setdefault(module, []).append(output)

    def run(self, forward, batch):
        self.read, self.output = {}, {}
        return forward(self.model, batch)


def _imagined(like, source, count):
    """Records like this one, of noise: white, or with a spectrum 1/f over the last two dimensions."""
    generator = torch.Generator().manual_seed(7)
    noise = torch.randn((count, *like.shape), generator=generator)
    if source == "pink" and like.ndim >= 2:
        rows, columns = torch.fft.fftfreq(like.shape[-2]).reshape(-1, 1), torch.fft.fftfreq(like.shape[-1])
        spectrum = (rows.square() + columns.square()).sqrt().clamp(min=0.5 / max(like.shape[-2:]))
        noise = torch.fft.ifft2(torch.fft.fft2(noise) / spectrum).real
        noise = noise / noise.std()
    return noise


def _on_grid(values, step):
    return values.div_(step).round_().mul_(step)


class Shaping:
    """Makes the maps of a model, before its first step."""

    def __init__(self, shape, model, loader, forward, mu, adjacency):
        self.shape, self.model, self.loader, self.forward = shape, model, loader, forward or _forward
        self.mu, self.adjacency = mu, adjacency
        self.noise = None  # that of the training
        self.layers = []
        for module in model.modules():
            if shapeable(module) and module.weight.requires_grad:
                layer = _Layer(module)
                if layer.width <= _WIDEST:
                    self.layers.append(layer)
        if not self.layers:
            raise ValueError(f"noise: 'shaped' needs a trained linear or convolutional layer with at most {_WIDEST} inputs, and this model has none.")
        self.multiplier = _core.multiplier_of_moments(mu, adjacency) if shape.released else None

    def maps(self):
        """(map of what is read, map of the gradient of what is written), by layer."""
        read = self._released() if self.shape.released else self._known() if self.shape.read is not None else {}
        written = self._written() if self.shape.written else {}
        return {layer.module: (read.get(layer.module), written.get(layer.module)) for layer in self.layers}

    def _imagine(self, source, count):
        """A batch as the loader yields it, of imagined records: numbers are noise, integers are 0. Nothing of a record but its shape is used."""
        example = self.loader.collate_fn([self.loader.dataset[0]])
        device = next(self.model.parameters()).device

        def made(tensor):
            if not tensor.ndim:
                return torch.zeros_like(tensor)
            if not tensor.is_floating_point():
                return tensor.new_zeros((count, *tensor.shape[1:]))
            return _imagined(tensor[0], source, count).to(device, tensor.dtype)

        return mapped(example, made)

    def _passes(self, batch):
        """What layers read of a batch, some records at a time."""
        count = len(tensors([batch])[0])
        with _Watched(self.model, self.layers) as watched, torch.no_grad():
            for at in range(0, count, _RECORDS):
                self._run(watched, mapped(batch, lambda t, at=at: t[at : at + _RECORDS] if t.ndim and len(t) == count else t))
                yield watched.read

    def _run(self, watched, batch):
        try:
            return watched.run(self.forward, batch)
        except Exception as error:
            raise ValueError(f"shape: the model cannot be run on what the loader yields ({error}). Give forward=: a function of (model, batch) "
                             "that calls it as your loop does.") from error

    def _known(self):
        """From imagined or public records."""
        inputs = (self.shape.read,) if torch.is_tensor(self.shape.read) else self._imagine(self.shape.read, _IMAGINED)
        sums = {layer.module: torch.zeros((layer.width, layer.width), dtype=torch.float64) for layer in self.layers}
        counts = dict.fromkeys(sums, 0)
        for read in self._passes(inputs):
            for layer in self.layers:
                for x in read.get(layer.module, []):
                    rows = layer.read(x).flatten(0, 1).double().cpu()
                    sums[layer.module] += rows.T @ rows
                    counts[layer.module] += len(rows)
        return {layer.module: map_of(sums[layer.module] / max(counts[layer.module], 1), 0.0, self.shape, layer.spread) for layer in self.layers}

    def _written(self):
        """From gradients of noise at the output of imagined records."""
        source = self.shape.read if isinstance(self.shape.read, str) and not self.shape.released else "white"
        batches = [self._imagine(source, _IMAGINED)]
        generator = torch.Generator().manual_seed(9)
        sums = {layer.module: torch.zeros((layer.outputs, layer.outputs), dtype=torch.float64) for layer in self.layers}
        counts = dict.fromkeys(sums, 0)
        with _Watched(self.model, self.layers) as watched, torch.enable_grad():
            for batch in batches:
                output = tensors([self._run(watched, batch)])[0]
                outputs = [(module, o) for module, all_ in watched.output.items() for o in all_]
                with_noise = torch.randn(output.shape, generator=generator).to(output)
                gradients = torch.autograd.grad(output, [o for _, o in outputs], with_noise, allow_unused=True)
                layers = {layer.module: layer for layer in self.layers}
                for (module, _), gradient in zip(outputs, gradients):
                    if gradient is not None:
                        rows = layers[module].written(gradient).flatten(0, 1).double().cpu()
                        sums[module] += rows.T @ rows
                        counts[module] += len(rows)
        return {layer.module: map_of(sums[layer.module] / max(counts[layer.module], 1), 0.0, self.shape) for layer in self.layers}

    # A release.

    def _lengths(self):
        """The length that a layer's inputs are scaled down to: the root mean square for imagined records. And the places in them that are looked at."""
        found = {}
        for read in self._passes(self._imagine("white", 256)):
            for layer in self.layers:
                for x in read.get(layer.module, []):
                    rows = layer.read(x)
                    found.setdefault(layer.module, []).append((float(rows.double().square().sum(dim=2).mean()), rows.shape[1]))
        generator = torch.Generator().manual_seed(5)
        bounds = {}
        for module, pairs in found.items():
            length, positions = math.sqrt(sum(square for square, _ in pairs) / len(pairs)), pairs[0][1]
            if 1e-12 <= length <= 1e12:
                bounds[module] = length, torch.randperm(positions, generator=generator)[:_POSITIONS].sort().values if positions > _POSITIONS else None
        return bounds

    def _released(self):
        """Second moments of what layers read of all records, at the initial weights, with noise: the releases of all layers are mu-GDP together."""
        records = len(self.loader.dataset)
        bounds = self._lengths()
        layers = [layer for layer in self.layers if layer.module in bounds]
        if not layers:
            raise ValueError("shape: no layer reads anything of imagined records whose length is a number.")
        total = sum(layer.width for layer in layers)
        sums = {layer.module: torch.zeros((layer.width, layer.width), dtype=torch.float64) for layer in layers}
        batches = DataLoader(self.loader.dataset, batch_size=_RECORDS, collate_fn=self.loader.collate_fn, num_workers=self.loader.num_workers)
        seen = 0
        with _Watched(self.model, self.layers) as watched, torch.no_grad():
            for batch in batches:
                self._run(watched, batch)
                count = min(_RECORDS, records - seen)
                seen += count
                for layer in layers:
                    length, places = bounds[layer.module]
                    product = _moments(layer, watched.read.get(layer.module, []), places, count, length, records)
                    if product is not None:
                        sums[layer.module] += product
        maps = {}
        for layer in layers:
            length, _ = bounds[layer.module]
            # A little less, so that rounding does not make the sum of squares larger.
            own = self.mu * math.sqrt(layer.width / total) * (1.0 - 1e-12)
            deviation = length**2 * (math.sqrt(2.0) if self.adjacency == "replace_one" else 1.0) / own
            drawn = self.noise.normals(layer.width**2).reshape(layer.width, layer.width)
            noisy = (sums[layer.module] + deviation * (drawn + drawn.T) / 2) / records
            edge = deviation * math.sqrt(2.0 * layer.width) / records
            maps[layer.module] = map_of(noisy, edge, self.shape, layer.spread)
        return maps


def _moments(layer, reads, places, count, length, records):
    """The sum over records of the mean over positions of a a^T, each scaled to a trace of at most length^2, on a grid on which sums are exact."""
    if not reads:
        return None
    rows = torch.cat([layer.read(x, places) for x in reads], dim=1).double().cpu()
    if len(rows) != count:
        raise ValueError("shape: a layer does not read the records of the batch in its first dimension.")
    positions = rows.shape[1]
    step = 2.0 ** (math.ceil(math.log2(1.01 * length**2 * max(records, 1))) - 52)
    margin = 4.0 * count * (count * positions + layer.width + 8) * 2.0**-53 + 2.0 * layer.width * step / length**2
    if margin > 1e-2:
        raise ValueError("shape: too many records or positions for sums in double precision.")
    squares = rows.square().sum(dim=(1, 2)) / positions
    weights = ((1.0 - margin) * length**2 / squares.clamp(min=1e-300)).clamp(max=1.0).sqrt() / math.sqrt(positions)
    kept = torch.isfinite(squares)
    rows = torch.where(kept.reshape(-1, 1, 1), rows, 0.0) * torch.where(kept, weights, 0.0).reshape(-1, 1, 1)
    rows = rows.flatten(0, 1)
    return _on_grid(rows.T @ rows, step)


def _forward(model, batch):
    if torch.is_tensor(batch):
        return model(batch.to(next(model.parameters()).device))
    if isinstance(batch, (tuple, list)):
        return model(batch[0].to(next(model.parameters()).device))
    raise ValueError("is neither a tensor nor a pair")


def mu_of(epsilon, delta):
    """The mu of Gaussian privacy that has this epsilon at delta. Shares are of it; no guarantee rests on it."""
    def delta_of(mu):
        phi = (lambda t: 0.5 * math.erfc(-t / math.sqrt(2.0)))
        return phi(-epsilon / mu + mu / 2) - math.exp(min(epsilon, 700.0)) * phi(-epsilon / mu - mu / 2)

    low, high = 1e-6, 100.0
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_of(middle) < delta else (low, middle)
    return low


def shaped_multiplier(epsilon, account):
    """The least noise multiplier, to the safe side, with which `account` (epsilon of the release and of such steps) stays below a target."""
    alone = account(None)
    if alone >= epsilon:
        raise ValueError(f"shape: the release alone costs epsilon {alone:.4g}, of a target of {epsilon:g}. Give it a smaller share or mu.")
    low, high = 0.05, 0.5
    while account(high) > epsilon:
        low, high = high, 2.0 * high
        if high > 1e6:
            raise ValueError("target_epsilon: no noise meets it beside the release of the metric.")
    while high / low > 1.0 + 1e-4:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if account(middle) <= epsilon else (middle, high)
    return high
