"""Sums of clipped gradients without the gradients of the records: hooks keep what each layer reads and the gradient of what it writes.

The gradient of a record in a layer is a sum of outer products g_t a_t^T over its positions t. Its norm comes from them, and the sum of all
clipped gradients is one weighted product per layer. All of it is in double precision, with a proven margin:

- The norm of a record is bounded from above: rounding moves the square of the computed norm by no more than `_slack` m^2, where m is the mass of
  the record, the root of the sum over layers of (sum_t |g_t| |a_t|)^2, and that is added. Where the gradients of the records are hardly larger
  than what they come from (most convolutions, norms), they are computed, and are vectors of one position: m is their norm.
- A product over b records with T positions is off by no more than (b T + 4) 2^-53 times the sum of their weighted masses. A weight is at most
  _CANCELLING * clip / mass, and b is so small that two such errors stay below _PIECES * clip.
- The products of such pieces are rounded to a grid on which their sums are exact. So a record moves the rounding of its own piece and of no other,
  by less than a step of the grid in each coordinate.

The clip that is used is smaller than the one that is said by these two margins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch.nn import functional as F

from .gradients import refuse_mixing
from .states import trained

_UNIT = 2.0**-53
_CANCELLING = 1024.0  # records whose terms cancel by more than that are clipped to less
_PIECES = 2e-6
_NUMBERS = 2**20  # of a piece, in double precision
_DIRECT = 4.0  # how much larger than what they come from the gradients of records may be to be computed, and not Gram matrices
_CONVOLUTIONS = {torch.nn.Conv1d: 1, torch.nn.Conv2d: 2, torch.nn.Conv3d: 3}


def _double(tensor):
    device = tensor.device if tensor.device.type != "mps" else torch.device("cpu")  # which has no double precision
    return tensor.detach().to(device, torch.float64)


def _lengths(rows):
    return torch.linalg.vector_norm(rows, dim=-1)


def _slack(terms):
    return 4.0 * (terms + 8) * _UNIT


def _weighted(rows, weights, kept):
    for parameter, values in rows:
        yield parameter, weights @ (values if kept.all() else torch.where(kept.reshape(-1, 1), values, 0.0))


class _Products:
    """A piece of a linear or convolutional layer: read (b, groups, T, i), written (b, groups, T, o)."""

    def __init__(self, module, calls):
        read, written = zip(*(self.operands(module, x, g) for x, g in calls))
        self.read = read[0] if len(read) == 1 else torch.cat(read, dim=2)
        self.written = written[0] if len(written) == 1 else torch.cat(written, dim=2)
        self.weight = module.weight if module.weight.requires_grad else None
        self.bias = module.bias if module.bias is not None and module.bias.requires_grad else None
        self.rows = None

    @staticmethod
    def operands(module, x, g):
        if isinstance(module, torch.nn.Linear):
            return _double(x).reshape(len(x), 1, -1, x.shape[-1]), g.reshape(len(g), 1, -1, g.shape[-1])
        dimensions = _CONVOLUTIONS[type(module)]
        x = F.pad(x, module._reversed_padding_repeated_twice, mode="constant" if module.padding_mode == "zeros" else module.padding_mode)
        for d in range(dimensions):
            x = x.unfold(2 + d, (module.kernel_size[d] - 1) * module.dilation[d] + 1, module.stride[d])[..., :: module.dilation[d]]
        x = x.unflatten(1, (module.groups, -1))  # a view: patches are copied once, positions last
        x = _double(x.permute(0, 1, 2, *range(3 + dimensions, 3 + 2 * dimensions), *range(3, 3 + dimensions)))
        x = x.reshape(len(x), module.groups, module.in_channels // module.groups * math.prod(module.kernel_size), -1)
        return x.mT, g.reshape(len(g), module.groups, module.out_channels // module.groups, -1).mT

    def squares(self):
        """Upper bounds of the squared norms of the records, and their squared masses."""
        read, written = self.read, self.written
        count, _, positions, inputs = read.shape
        outputs = written.shape[-1]
        norms = masses = written.new_zeros(count)
        if positions > 1 and inputs * outputs <= _DIRECT * positions * (inputs + outputs):
            self.rows = [(parameter, rows.flatten(1)) for parameter, rows in ((self.weight, written.mT @ read if self.weight is not None else None),
                                                                              (self.bias, written.sum(dim=2))) if parameter is not None]
            masses = sum(rows.square().sum(dim=1) for _, rows in self.rows)
            return masses * (1.0 + _slack(sum(rows.shape[1] for _, rows in self.rows))), masses
        lengths = _lengths(written)
        if self.weight is not None:
            mass = (lengths * _lengths(read)).sum(dim=2)
            if positions == 1:
                square = mass.square().sum(dim=1)
            else:  # Gram matrices
                square = ((written @ written.mT) * (read @ read.mT)).sum(dim=(1, 2, 3)).clamp(min=0.0)
            masses = masses + mass.square().sum(dim=1)
            norms = norms + square + _slack(positions**2 * read.shape[1] + inputs + outputs) * masses
        if self.bias is not None:
            mass = lengths.sum(dim=2).square().sum(dim=1)
            masses = masses + mass
            norms = norms + written.sum(dim=2).square().sum(dim=(1, 2)) + _slack(positions + outputs * read.shape[1]) * mass
        return norms, masses

    def sums(self, weights, kept):
        """The weighted sums of the gradients of the records that are kept, by parameter."""
        if self.rows is not None:
            yield from _weighted(self.rows, weights, kept)
            return
        written, read = self.written * weights.reshape(-1, 1, 1, 1), self.read
        if not kept.all():
            written, read = (torch.where(kept.reshape(-1, 1, 1, 1), part, 0.0) for part in (written, read))
        written = written.transpose(0, 1).flatten(1, 2)
        if self.weight is not None:
            yield self.weight, written.mT @ read.transpose(0, 1).flatten(1, 2)
        if self.bias is not None:
            yield self.bias, written.sum(dim=1)


class _Lookups:
    """A piece of an embedding: indices (b, T), written (b, T, width)."""

    def __init__(self, module, calls):
        self.weight = module.weight
        self.indices = torch.cat([x.reshape(len(x), -1) for x, _ in calls], dim=1)
        self.written = torch.cat([g.reshape(len(g), -1, g.shape[-1]) for _, g in calls], dim=1)
        if module.padding_idx is not None:
            self.written = torch.where((self.indices == module.padding_idx).unsqueeze(2), 0.0, self.written)

    def squares(self):
        count, positions = self.indices.shape
        rows = torch.arange(count, device=self.indices.device).reshape(-1, 1)
        keys, which = torch.unique(rows * len(self.weight) + self.indices, return_inverse=True)
        width = self.written.shape[-1]
        sums = self.written.new_zeros((len(keys), width)).index_add_(0, which.reshape(-1), self.written.reshape(-1, width))
        squares = self.written.new_zeros(count).index_add_(0, keys // len(self.weight), sums.square().sum(dim=1))
        masses = _lengths(self.written).sum(dim=1).square()
        return squares + _slack(positions * (width + 2)) * masses, masses

    def sums(self, weights, kept):
        written = torch.where(kept.reshape(-1, 1, 1), self.written * weights.reshape(-1, 1, 1), 0.0)
        total = written.new_zeros(self.weight.shape)
        yield self.weight, total.index_add_(0, self.indices.reshape(-1), written.flatten(0, 1))


class _Rows:
    """A piece of a layer with so few weights that each record has its gradient: LayerNorm and GroupNorm."""

    def __init__(self, module, calls):
        self.rows = {}
        for x, g in calls:
            for parameter, rows in self.gradients(module, x, g):
                if parameter is not None and parameter.requires_grad:
                    self.rows[parameter] = self.rows[parameter] + rows if parameter in self.rows else rows

    @staticmethod
    def gradients(module, x, g):
        x = _double(x)
        if isinstance(module, torch.nn.GroupNorm):
            normal = F.group_norm(x, module.num_groups, eps=module.eps)
            normal, g = (part.reshape(len(part), module.num_channels, -1) for part in (normal, g))
            return [(module.weight, (g * normal).sum(dim=2)), (module.bias, g.sum(dim=2))]
        normal = F.layer_norm(x, module.normalized_shape, eps=module.eps)
        size = math.prod(module.normalized_shape)
        normal, g = (part.reshape(len(part), -1, size) for part in (normal, g))
        return [(module.weight, (g * normal).sum(dim=1)), (module.bias, g.sum(dim=1))]

    def squares(self):
        squares = sum(rows.square().sum(dim=1) for rows in self.rows.values())
        return squares * (1.0 + _slack(sum(rows.shape[1] for rows in self.rows.values()))), squares

    def sums(self, weights, kept):
        return _weighted(self.rows.items(), weights, kept)


_RULES = {torch.nn.Linear: _Products, torch.nn.Conv1d: _Products, torch.nn.Conv2d: _Products, torch.nn.Conv3d: _Products,
          torch.nn.Embedding: _Lookups, torch.nn.LayerNorm: _Rows, torch.nn.GroupNorm: _Rows}


class _Call:
    """One call of a layer: what it read, and the gradient of what it wrote once backward() has come to it."""

    def __init__(self, read, written):
        self.read, self.version = read.detach(), read._version
        self.written = None
        self.output = written if written.requires_grad else None

    def add(self, gradient):
        self.written = gradient.detach() if self.written is None else self.written + gradient.detach()  # several losses


def _tensors(values):
    if torch.is_tensor(values):
        return [values]
    if isinstance(values, Mapping):
        values = list(values.values())
    return [tensor for value in values for tensor in _tensors(value)] if isinstance(values, (list, tuple)) else []


def _mapped(values, function):
    if torch.is_tensor(values):
        return function(values)
    if isinstance(values, Mapping):
        return type(values)({key: _mapped(value, function) for key, value in values.items()})
    if isinstance(values, tuple) and hasattr(values, "_fields"):
        return type(values)(*(_mapped(value, function) for value in values))
    return type(values)(_mapped(value, function) for value in values) if isinstance(values, (list, tuple)) else values


class ClippedSums:
    """Keeps what the layers of a model read and write while it trains, and sums the clipped gradients of the records.

    Every trained parameter must belong to one layer of a known kind. Records come first in everything that a layer reads and writes, and do not see
    each other: a probe without data tries that out in the first pass.
    """

    def __init__(self, model, records):
        self._model = model
        self._records = int(records)
        self._layers = _layers(model)
        self._calls = {module: [] for module in self._layers}
        self._count = None  # of the pass that is going on
        self._probing = self._probed = False
        self._checked = False
        self.seen = self._passes = 0  # records and passes of the model since the last clear()
        self._outside = None
        self._clean = False  # whether .grad was empty before the pass
        self._hooks = [model.register_forward_pre_hook(self._begin, with_kwargs=True), model.register_forward_hook(self._end, always_call=True),
                       *(module.register_forward_hook(self._called) for module in self._layers)]

    def remove(self):
        for hook in self._hooks:
            hook.remove()
        self.clear()

    def clear(self):
        self.seen, self._passes, self._outside = 0, 0, None
        for calls in self._calls.values():
            calls.clear()

    # Hooks. They do nothing in evaluation mode and without gradients.

    def _begin(self, module, args, kwargs):
        if self._probing or not (module.training and torch.is_grad_enabled()):
            return
        tensors = _tensors([args, kwargs])
        if not tensors or tensors[0].ndim == 0:
            raise ValueError("model: reads no tensor with the records in its first dimension.")
        if not self._probed:
            self._probe(args, kwargs, len(tensors[0]))
            self._probed = True
        self._clean = not self._checked and all(p.grad is None or not p.grad.any() for p in module.parameters())
        self._count = len(tensors[0])
        self._passes += 1
        self.seen += self._count

    def _end(self, module, args, output):
        if not self._probing:
            self._count = None

    def _called(self, module, args, output):
        if not (self._model.training and torch.is_grad_enabled() and torch.is_tensor(output) and output.requires_grad):
            return
        name = self._layers[module]
        if self._count is None:
            self._outside = name
            return
        read = args[0] if args else None
        if read is None or len(read) != self._count or len(output) != self._count:
            raise ValueError(f"{name}: does not have the {self._count} records of the batch in its first dimension. "
                             "Reshape inside of the model so that records come first (batch_first=True).")
        if type(module) in _CONVOLUTIONS and read.ndim != _CONVOLUTIONS[type(module)] + 2:
            raise ValueError(f"{name}: reads one record without a batch. Give it a first dimension for records.")
        if type(module) is torch.nn.Linear and read.ndim < 2:
            raise ValueError(f"{name}: reads one record without a batch. Give it a first dimension for records.")
        call = _Call(read, output)
        output.register_hook(call.add)
        if not self._probing:
            call.output = None
        self._calls[module].append(call)

    def _probe(self, args, kwargs, count):
        """Passes of records of noise: what one of them writes depends on no other, and no state of the model on what it reads."""
        buffers = {name: (buffer, buffer._version, buffer.clone()) for name, buffer in self._model.named_buffers()}
        devices = sorted({tensor.device.index for tensor in _tensors([args, kwargs]) if tensor.device.type == "cuda"})
        for size in (5, 7):  # other dimensions do not have both sizes

            read = []

            def made(tensor, size=size, read=read):
                if tensor.ndim == 0 or len(tensor) != count:
                    return tensor
                shape = (size, *tensor.shape[1:])
                if not tensor.is_floating_point():
                    return tensor.new_zeros(shape)
                read.append(torch.rand(shape, dtype=tensor.dtype, device=tensor.device).requires_grad_())
                return read[-1] * 1.0

            self._probing, self._count = True, size
            try:
                with torch.random.fork_rng(devices=devices):
                    written = [t for t in _tensors([self._model(*_mapped(args, made), **_mapped(kwargs, made))]) if t.requires_grad]
                if not written or any(t.ndim == 0 or len(t) != size for t in written):
                    raise ValueError("model: what it returns does not have the records in its first dimension.")
                calls = [(name, call) for module, name in self._layers.items() for call in self._calls[module]]
                outputs = [*read, *(call.output for _, call in calls)]
                gradients = torch.autograd.grad(sum(t[2].sum() for t in written), outputs, allow_unused=True)
            finally:
                self._probing, self._count = False, None
                for calls_ in self._calls.values():
                    calls_.clear()
            for name, gradient in zip([*("model" for _ in read), *(name for name, _ in calls)], gradients):
                if gradient is not None and (gradient[:2].any() or gradient[3:].any()):
                    raise ValueError(f"{name}: records see each other between what this reads and what the model returns, so that there is no gradient of "
                                     "one record. Let no operation go over the first dimension.")
        changed = []
        with torch.no_grad():
            for name, (buffer, version, before) in buffers.items():
                if dict(self._model.named_buffers()).get(name) is not buffer or buffer._version != version:
                    changed.append(name)
                    buffer.copy_(before)
        if changed:
            raise ValueError(f"{changed[0]}: is a state of the model that changes while it trains, which would reveal what it reads. "
                             "Use a layer without (track_running_stats=False, GroupNorm).")

    # What was kept.

    def refuse(self):
        """What cannot be summed."""
        refuse_mixing(self._model)
        if _layers(self._model) != self._layers:
            raise ValueError("model: has other trained layers than when it was made private. Make it private again, with accountant=.")
        if self._outside is not None:
            raise RuntimeError(f"{self._outside}: was called outside of a pass of the model (a part of it by itself, or a checkpoint that runs it "
                               "again). Call the model as a whole, without checkpoints.")
        if self._passes > 1:
            raise RuntimeError(f"model: {self._passes} passes for one step. Give it the batch once, as the loader has drawn it.")
        for module, calls in self._calls.items():
            if any(call.read._version != call.version for call in calls):
                raise RuntimeError(f"{self._layers[module]}: what it read was changed in place since. Do so after step().")
        if self.seen and not any(call.written is not None for calls in self._calls.values() for call in calls):
            raise RuntimeError("step: no gradient has come. Call backward() on the loss before step().")

    def margin(self, sizes):
        """By how much of the clip a record moves a computed sum beyond it, for layers with so many parameters."""
        return _PIECES + 2.0 * math.sqrt(max(sizes)) * _grid(1.0, self._records) + 1e-12

    def add(self, totals, clips, scale):
        """Adds the sum of the clipped gradients of what was kept to `totals`, by parameter. `clips` is a number, or one for each layer."""
        layers = [(module, _RULES[type(module)], calls) for module, calls in
                  ((module, [call for call in self._calls[module] if call.written is not None]) for module in self._layers) if calls]
        if not layers or not self.seen:
            return
        if self._clean:
            self._compare(layers, scale)
        by_layer = isinstance(clips, dict)
        sizes = [sum(p.numel() for p in module.parameters(recurse=False) if p.requires_grad) for module in self._layers]
        margin = self.margin(sizes if by_layer else [sum(sizes)])
        if margin > 1e-2:
            raise ValueError("model: too many parameters and records for sums in double precision.")
        for piece in self._pieces(layers):
            parts = [(module, rule(module, [(call.read[piece], _double(call.written[piece]) * scale) for call in calls]))
                     for module, rule, calls in layers]
            squares = {module: part.squares() for module, part in parts}
            norms, masses = (sum(s[k].to("cpu") for s in squares.values()).sqrt() for k in (0, 1))
            kept = torch.isfinite(norms) & torch.isfinite(masses)
            for module, part in parts:
                clip = clips[module] if by_layer else clips
                if by_layer:
                    norms, masses = (s.to("cpu").sqrt() for s in squares[module])
                weights = torch.minimum((1.0 - margin) * clip / norms.clamp(min=1e-300), _CANCELLING * clip / masses.clamp(min=1e-300)).clamp(max=1.0)
                device = squares[module][0].device
                weights, here = torch.where(kept, weights, 0.0).to(device), kept.to(device)
                step = _grid(clip, self._records)
                for parameter, total in part.sums(weights, here):
                    totals[parameter] += (torch.round(total / step) * step).reshape(-1).to(totals[parameter].device)

    def _pieces(self, layers):
        positions, numbers = 1, 1
        for module, _, calls in layers:
            count = max(self.seen, 1)
            here = sum(call.written.numel() for call in calls) // count
            width = {torch.nn.Linear: lambda m: m.out_features, torch.nn.Embedding: lambda m: m.embedding_dim}.get(
                type(module), lambda m: getattr(m, "out_channels", None) or here)(module)
            spread = math.prod(module.kernel_size) if type(module) in _CONVOLUTIONS else 1
            positions = max(positions, -(-here // max(width, 1)))
            numbers += here + (here // max(width, 1)) * spread * getattr(module, "in_channels", 0) + sum(call.read.numel() for call in calls) // count
        most = math.isqrt(int(_PIECES / (2 * _UNIT * _CANCELLING) / (positions + 4)))
        if most < 1:
            raise ValueError(f"model: {positions} positions in a layer are too many for sums in double precision.")
        length = max(1, min(most, _NUMBERS // numbers))
        return [slice(at, at + length) for at in range(0, self.seen, length)]

    def _compare(self, layers, scale):
        """Once: the sum without clipping is what backward() has made, so that no parameter is used elsewhere."""
        self._checked, self._clean = True, False
        for piece in [slice(0, self.seen)] if self.seen <= 4096 else []:
            for module, rule, calls in layers:
                part = rule(module, [(call.read[piece], _double(call.written[piece]) * scale) for call in calls])
                masses = part.squares()[1].sqrt()
                if not torch.isfinite(masses).all():
                    continue
                ones = torch.ones_like(masses)
                for parameter, total in part.sums(ones, ones > 0):
                    if parameter.grad is None:
                        continue
                    wanted = _double(parameter.grad).reshape(-1) * scale
                    tolerance = 2e-3 if parameter.dtype in (torch.float32, torch.float64) else 5e-2
                    if not _lengths(total.reshape(-1) - wanted) <= tolerance * masses.sum():
                        raise ValueError(f"{self._layers[module]}: its gradient is not that of its calls: a parameter is used elsewhere too, its forward "
                                         "pass was changed, or .grad was (clip_grad_norm_). Records are clipped here, and the rest has no rule yet.")


def _grid(clip, records):
    """A power of two of which sums of clipped gradients of so many records are exact multiples."""
    return 2.0 ** (math.ceil(math.log2(1.01 * clip * max(records, 1))) - 52)


def _layers(model):
    """The layers with trained parameters, and their names; refused if one has no rule."""
    layers, owners = {}, {}
    for name, module in model.named_modules():
        own = [parameter for parameter in module._parameters.values() if parameter is not None and parameter.requires_grad]
        if not own:
            continue
        if type(module) not in _RULES:
            raise ValueError(f"{name or 'model'}: {type(module).__name__} has parameters and no rule for the norms of their gradients. Known are Linear, "
                             "Conv1d to Conv3d, Embedding, LayerNorm and GroupNorm. Freeze its parameters (requires_grad_(False)), or use PrivateOptimizer.")
        for parameter in own:
            if parameter in owners:
                raise ValueError(f"{name}: shares a parameter with {owners[parameter]}, which has no rule yet. Give each its own, or use PrivateOptimizer.")
            owners[parameter] = name
        if type(module) is torch.nn.Embedding and (module.scale_grad_by_freq or module.sparse or module.max_norm is not None):
            raise ValueError(f"{name}: scale_grad_by_freq, sparse and max_norm have no gradient of one record. Leave them out.")
        layers[module] = name
    if not layers:
        raise ValueError("model: has no trained parameter.")
    if len(owners) != len(trained(model)):
        raise ValueError("model: has trained parameters that no layer owns.")
    return layers
