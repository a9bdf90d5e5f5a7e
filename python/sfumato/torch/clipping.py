"""Sums of clipped gradients without the gradients of the records: hooks keep what each layer reads and the gradient of what it writes.

The norm of a record is bounded from above in double precision, and its weight is such that no record moves the computed sum by more than the clip:

- Rounding moves the square of a computed norm by no more than `slack` m^2, where m is the mass of the record (layers.py), and that is added.
- In single precision some n records are added at a time, each one term that is no longer than the clip: partial sums add up to n (n + 1) / 2 clips
  at most, in whatever order, and each addition is off by 2^-24 of one. In double precision, where positions cancel, a sum is off by (n T + 4) 2^-53
  times the weighted masses, and a weight is at most _CANCELLING * clip / mass. With one record more or less all others may stand in
  another sum, so that every sum of the largest batch counts.
- These sums are added in double precision.

The clip that is used is smaller than the one that is said by these margins (spec 34.2).
"""

from __future__ import annotations

import math
import warnings
import weakref

import torch

from .gradients import refuse_mixing
from .layers import CONVOLUTIONS, RULES, UNIT, Rows, by_record, double, in_range, lengths, tensors
from .probing import mapped, probe
from .states import trained

_CANCELLING = 1024.0  # records whose terms cancel by more than that are clipped to less
_PIECES = 1e-5  # of the clip, for products in double precision
_SINGLE = 2.5e-3  # of the clip, for sums in single precision
_NUMBERS = 2**22  # of a piece


class _Call:
    """One call of a layer: what it read, and the gradient of what it wrote once backward() has come to it."""

    def __init__(self, args, kwargs):
        self.args, self.kwargs = mapped((args, kwargs), torch.Tensor.detach)  # which count changes with the originals
        self.versions = [(tensor, tensor._version) for tensor in tensors([self.args, self.kwargs])]
        self.written = self.output = None

    def add(self, gradient):
        self.written = gradient.detach() if self.written is None else self.written + gradient.detach()  # several losses

    def part(self, piece, count):
        part = _Call.__new__(_Call)
        cut = (lambda t: t[piece] if t.ndim and len(t) == count else t)
        part.args, part.kwargs = mapped((self.args, self.kwargs), cut)
        part.written = self.written[piece]
        return part


class _Start(torch.autograd.Function):
    """What a layer writes, as something that has a gradient although neither its weights nor what it reads do."""

    @staticmethod
    def forward(ctx, output, anchor):
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx, gradient):
        return None, None


class ClippedSums:
    """Keeps what the layers of a model read and write while it trains, and sums the clipped gradients of the records.

    Every trained parameter must belong to a layer. Records come first in everything that a layer reads and writes, and do not see each
    other: a probe without data tries that out in the first pass, and again in passes that lie further and further apart. In the other passes the
    weights of the layers have no gradients of their own, which saves a third of backward().

    `maps` are the metric: for a layer, linear maps of what it reads and of the gradient of what it writes, known before the records were seen.
    """

    def __init__(self, model, records, largest=None):
        self._model = weakref.ref(model)  # whose hooks hold this
        self._records = int(records)
        self._largest = self._records if largest is None else min(self._records, int(largest))  # batch
        # Records that are added at a time in single precision; 0 where that would cost too much of the clip, or fewer at a time more than it saves.
        self._together = next((n for n in (128, 64) if self._largest * (n + 9) * 2.0**-24 * 1.01 <= _SINGLE), 0)
        self._layers = layers_of(model)
        self._groups = _groups(self._layers)
        self._places = _trained_places(model)
        self.maps = {}
        self.roots = {}  # of variances, by parameter: gradients are divided by them, record by record
        self._calls = {module: [] for module in self._layers}
        self._count = None  # of the pass that is going on
        self._busy = self._probing = False
        self._copied = False
        self._turn, self._due = 0, 1  # passes, and the one in which all is tried out again
        self.seen = self._passes = 0  # records and passes of the model since the last clear()
        self._outside = None
        self._clean = False  # whether .grad was empty before a pass in which sums are compared
        self._frozen = []
        self._anchor = torch.zeros((), requires_grad=True)
        self.on_loss = None  # called with the loss when backward() comes
        self._hooks = [*(module.register_forward_hook(self._called, with_kwargs=True) for module in self._layers),
                       model.register_forward_pre_hook(self._begin, with_kwargs=True), model.register_forward_hook(self._end, always_call=True)]

    def __getstate__(self):
        # A copy of the model, or a file with it, has no records, and its hooks do nothing.
        return {"_copied": True}

    def remove(self):
        for hook in self._hooks:
            hook.remove()
        self.clear()

    def clear(self):
        self.seen, self._passes, self._outside = 0, 0, None
        for calls in self._calls.values():
            calls.clear()

    def _idle(self):
        return self._copied or self._busy

    # Hooks. They do nothing in evaluation mode and without gradients.

    def _begin(self, module, args, kwargs):
        if self._idle() or self._probing or not (module.training and torch.is_grad_enabled()):
            return
        given = tensors([args, kwargs])
        if not given or given[0].ndim == 0:
            raise ValueError("model: reads no tensor with the records in its first dimension.")
        count = len(given[0])
        self._turn += 1
        compared = self._turn >= self._due
        if compared:
            probe(module, args, kwargs, count, self._probed)
            if count:
                self._due = min(2 * self._turn, self._turn + 1000)
            self._clean = all(p.grad is None or not p.grad.any() for p in module.parameters())
        else:
            self._clean = False
            self._frozen = [p for layer in self._layers if type(layer) in RULES for p in layer._parameters.values() if p is not None and p.requires_grad]
            for parameter in self._frozen:
                parameter.requires_grad_(False)
        self._count = count
        self._passes += 1
        self.seen += self._count

    def _end(self, module, args, output):
        if self._idle() or self._probing:
            return
        self._count = None
        for parameter in self._frozen:
            parameter.requires_grad_(True)
        self._frozen = []

    def _called(self, module, args, kwargs, output):
        model = None if self._copied else self._model()
        if model is None or self._busy or not (model.training and torch.is_grad_enabled()):
            return None
        written = [tensor for tensor in tensors([output]) if tensor.is_floating_point()]
        if not (written and (written[0].requires_grad or self._frozen)):
            return None
        name = self._layers[module]
        if self._count is None:
            self._outside = name
            return None
        self._refuse_shapes(name, module, args, kwargs, written)
        call = _Call(args, kwargs)
        result = None
        if not written[0].requires_grad:
            result = written[0] = _Start.apply(written[0], self._anchor)
        if self._probing:
            call.output = written[0]  # without hooks, which would keep each other and it
        else:
            written[0].register_hook(self._adding(call))
            for other in written[1:]:
                if other.requires_grad:
                    other.register_hook(self._refusing(name))
        self._calls[module].append(call)
        return result

    def _adding(self, call):
        # What a layer reads keeps the graph it comes from, and its hooks: these must not keep the sums, which nothing could free then.
        sums = weakref.ref(self)

        def add(gradient):
            of = sums()
            if of is not None and of.on_loss is not None:
                of.on_loss()
            call.add(gradient)
        return add

    def _refusing(self, name):
        def refuse(gradient):
            if gradient.any():
                raise RuntimeError(f"{name}: has a gradient of something else that it returns than the first tensor, which has no rule.")
        return refuse

    def _refuse_shapes(self, name, module, args, kwargs, written):
        first = (f"{name}: does not have the {self._count} records of the batch in its first dimension. "
                 "Reshape inside of the model so that records come first (batch_first=True).")
        read = [args[0]] if type(module) in RULES and args else tensors([args, kwargs])
        if not read or any(t.ndim == 0 or len(t) != self._count for t in [*read[:1], written[0]]):
            raise ValueError(first)
        alone = f"{name}: reads one record without a batch. Give it a first dimension for records."
        if type(module) in CONVOLUTIONS and read[0].ndim != CONVOLUTIONS[type(module)] + 2:
            raise ValueError(alone)
        if type(module) is torch.nn.Linear and read[0].ndim < 2:
            raise ValueError(alone)

    def _probed(self, size, args, kwargs):
        """A pass of the probe: the output of the model, and the calls of its layers."""
        kept, self._calls = self._calls, {module: [] for module in self._layers}
        self._probing, self._count = True, size
        try:
            output = self._model()(*args, **kwargs)
            return output, [(name, call) for module, name in self._layers.items() for call in self._calls[module]]
        finally:
            self._probing, self._count, self._calls = False, None, kept

    # What was kept.

    def refuse(self):
        """What cannot be summed."""
        model = self._model()
        refuse_mixing(model)
        if _trained_places(model) != self._places and layers_of(model, quiet=True) != self._layers:
            raise ValueError("model: has other trained layers than when it was made private. Make it private again, with accountant=.")
        if self._outside is not None:
            raise RuntimeError(f"{self._outside}: was called outside of a pass of the model (a part of it by itself, or a checkpoint that runs it "
                               "again). Call the model as a whole, without checkpoints.")
        if self._passes > 1:
            raise RuntimeError(f"model: {self._passes} passes for one step. Give it the batch once, as the loader has drawn it.")
        for module, calls in self._calls.items():
            if any(tensor._version != version for call in calls for tensor, version in call.versions):
                raise RuntimeError(f"{self._layers[module]}: what it read was changed in place since. Do so after step().")
        if self.seen and not any(call.written is not None for calls in self._calls.values() for call in calls):
            raise RuntimeError("step: no gradient has come. Call backward() on the loss before step().")

    def margin(self):
        """By how much of the clip a record moves a computed sum beyond it."""
        single = self._together and any(p.dtype != torch.float64 for _, p in trained(self._model()))
        sums = self._largest * (self._together + 9) * 2.0**-24 * 1.01 if single else 0.0
        return _PIECES + sums + 2.0 * self._largest * (self._largest + 4) * UNIT + 1e-12

    def sizes(self):
        """How many trained parameters each layer has."""
        return [sum(p.numel() for p in parameters_of(module) if p.requires_grad) for module in self._layers]

    def _parts(self, piece):
        """The layers that were called, with these records: (group, what answers for it)."""
        for group in self._groups:
            found = []
            for module in group:
                calls = [call.part(piece, self.seen) for call in self._calls[module] if call.written is not None]
                if calls:
                    found.append(RULES.get(type(module), by_record)(module, calls, self.maps.get(module, (None, None))))
            if len(found) == 1 and not self.roots:
                yield group, found[0]
            elif found:  # layers with a parameter in common: the norm is that of the sum
                yield group, Rows((p, rows / self.roots[p] if self.roots else rows) for part in found for p, rows in part.dense())

    def add(self, totals, clips, scale):
        """Adds the sum of the clipped gradients of what was kept to `totals`, by parameter. `clips` is a number, or one for each layer."""
        if not self.seen or not any(call.written is not None for calls in self._calls.values() for call in calls):
            return
        self._busy = True
        try:
            if self._clean:
                self._compare()
            self._add(totals, clips, scale)
        finally:
            self._busy = False

    def _add(self, totals, clips, scale):
        by_layer = isinstance(clips, dict)
        if by_layer and any(len(group) > 1 for group in self._groups):
            raise ValueError("noise: 'per_layer' has no rule for layers that share a parameter.")
        margin = self.margin()
        if margin > 1e-2:
            raise ValueError("model: too many records in a batch for sums in double precision.")
        pieces, most = self._pieces()
        for piece in pieces:
            parts = [(group, part, *part.squares()) for group, part in self._parts(piece)]
            norms, masses = (sum(values[k].to("cpu") for values in parts).sqrt() * scale for k in (2, 3))
            kept = torch.isfinite(norms) & torch.isfinite(masses)
            for group, part, square, mass in parts:
                clip = clips[group[0]] if by_layer else clips
                if by_layer:
                    norms, masses = (s.to("cpu").sqrt() * scale for s in (square, mass))
                weights = torch.minimum((1.0 - margin) * clip / norms.clamp(min=1e-300), _CANCELLING * clip / masses.clamp(min=1e-300)).clamp(max=1.0)
                weights, here = torch.where(kept, weights * scale, 0.0).to(square.device), kept.to(square.device)
                exact = not (self._together and 1e-15 <= clip <= 1e15 and in_range(weights))
                for parameter, total in part.sums(weights, here, most, exact):
                    totals[parameter].add_(total.sum(dim=0, dtype=torch.float64).to(totals[parameter].device))

    def _pieces(self):
        """Places of the records whose norms are computed at once, and how many are added at a time."""
        positions, numbers = 1, 1
        count = max(self.seen, 1)
        for module in self._layers:
            calls = [call for call in self._calls[module] if call.written is not None]
            here = sum(call.written.numel() for call in calls) // count
            width = {torch.nn.Linear: lambda m: m.out_features, torch.nn.Embedding: lambda m: m.embedding_dim}.get(
                type(module), lambda m, here=here: getattr(m, "out_channels", None) or here)(module)
            spread = math.prod(module.kernel_size) if type(module) in CONVOLUTIONS else 1
            positions = max(positions, -(-here // max(width, 1)))
            numbers += here + (here // max(width, 1)) * spread * getattr(module, "in_channels", 0)
            numbers += sum(t.numel() for call in calls for t in tensors([call.args])) // count
            if type(module) not in (torch.nn.Linear, *CONVOLUTIONS) or here > width:  # gradients of records
                numbers += sum(p.numel() for p in parameters_of(module))
        most = int(_PIECES / (2 * UNIT * _CANCELLING) / self._largest / (positions + 4))
        if most < 1:
            raise ValueError(f"model: {positions} positions in a layer are too many for sums of {self._largest} records in double precision.")
        most = min(most, self._together or 4096)
        length = max(1, _NUMBERS // numbers)
        length = length // most * most or length  # whole sums
        return [slice(at, at + length) for at in range(0, self.seen, length)], min(most, length)

    def _compare(self):
        """Now and then: the sum without clipping is what backward() has made, so that no parameter is used elsewhere."""
        self._clean = False
        (maps, self.maps), (roots, self.roots) = (self.maps, {}), (self.roots, {})
        try:
            if self.seen > 4096:
                return
            found = {}
            pieces, most = self._pieces()
            for piece in pieces:
                for group, part in self._parts(piece):
                    masses = part.squares()[1].sqrt()
                    if not torch.isfinite(masses).all():
                        return
                    ones = torch.ones_like(masses)
                    for parameter, total in part.sums(ones, ones > 0, most, True):
                        before = found.get(parameter, (0.0, 0.0, None))
                        found[parameter] = (before[0] + total.double().sum(dim=0), before[1] + float(masses.sum()), group[0])
            for parameter, (total, weight, module) in found.items():
                if parameter.grad is None:
                    continue
                tolerance = 2e-3 if parameter.dtype in (torch.float32, torch.float64) else 5e-2
                if not lengths(total - double(parameter.grad).reshape(-1)) <= tolerance * weight:
                    raise ValueError(f"{self._layers[module]}: its gradient is not that of its calls: a parameter is used elsewhere too, its forward "
                                     "pass was changed or is random, or .grad was (clip_grad_norm_). Records are clipped here, and the rest has no rule.")
        finally:
            self.maps, self.roots = maps, roots


def _trained_places(model):
    return [(id(module), type(module), key, id(p)) for module in model.modules() for key, p in module._parameters.items()
            if p is not None and p.requires_grad]


def parameters_of(module):
    """The parameters that a layer answers for: its own, and of one without a rule those of its parts too."""
    return list(module.parameters(recurse=type(module) not in RULES))


def layers_of(model, quiet=False):
    """The layers with trained parameters, and their names: known kinds, and what has parameters of its own and no rule, as a whole."""
    layers, whole, unknown = {}, [], []
    for name, module in model.named_modules():
        if any(not above or name.startswith(above + ".") for above in whole):
            continue  # a part of one without a rule
        own = [key for key, parameter in module._parameters.items() if parameter is not None and parameter.requires_grad]
        if not own:
            continue
        if type(module) not in RULES:
            unknown.append(f"{name or 'model'} ({type(module).__name__})")
            whole.append(name)
        elif not set(own) <= {"weight", "bias"}:
            raise ValueError(f"{name or 'model'}: has the parameter {min(set(own) - {'weight', 'bias'})} in the place of its weights (weight_norm, spectral_norm), "
                             "which has no rule. Remove it before (torch.nn.utils.remove_weight_norm).")
        if type(module) is torch.nn.Embedding and (module.scale_grad_by_freq or module.sparse or module.max_norm is not None):
            raise ValueError(f"{name or 'model'}: scale_grad_by_freq, sparse and max_norm have no gradient of one record. Leave them out.")
        layers[module] = name or "model"
    if not layers:
        raise ValueError("model: has no trained parameter.")
    if len({id(p) for module in layers for p in parameters_of(module) if p.requires_grad}) != len(trained(model)):
        raise ValueError("model: has trained parameters that no layer owns.")
    if unknown and not quiet:
        warnings.warn(f"make_private: {', '.join(unknown)} has parameters and no rule for the norms of their gradients, which are computed record by record "
                      "(torch.func): slower, and with memory for a gradient of each record.", stacklevel=4)
    return layers


def _groups(layers):
    """Layers in groups that share no parameter with another."""
    groups = []
    for module in layers:
        own = {id(p) for p in parameters_of(module) if p.requires_grad}
        joined = [group for group in groups if group[1] & own]
        for group in joined:
            groups.remove(group)
            own |= group[1]
        groups.append(([m for group in joined for m in group[0]] + [module], own))
    return [modules for modules, _ in groups]
