"""The gradients of records in a layer, from what it reads and the gradient of what it writes: their norms, and weighted sums of them.

The gradient of a record is a sum of outer products g_t a_t^T over its positions t. Where gradients of records are hardly larger than what they come
from (most convolutions, norms), they are computed, and are vectors of one position. Where there is one position, the norm is |g| |a|. Else the
norm comes from Gram matrices. In a metric a layer has linear maps, known before, of what it reads and of the gradient of what it writes:
all of this is of the mapped vectors.

A piece holds some records. Its answers (spec 34.2):

- squares(): upper bounds of the squared norms, in double precision, and the squared masses: the mass of a record is the root of the sum over layers of
  (sum_t |g_t| |a_t|)^2, with positions as they are summed here. It bounds what rounding does to a sum.
- sums(): for each parameter the weighted sums of so many records at a time, a row for each. Where a record has one term, as computed, they are
  in the precision of the layer; where positions cancel in them, in double precision.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F
from torch.utils._pytree import tree_flatten, tree_unflatten

UNIT = 2.0**-53
_DIRECT = 4.0  # how much larger than what they come from the gradients of records may be to be computed, and not Gram matrices
_LONGEST = 1e15  # beyond it numbers may leave the range of single precision
_LEAST = 1e-30
CONVOLUTIONS = {torch.nn.Conv1d: 1, torch.nn.Conv2d: 2, torch.nn.Conv3d: 3}


def computable(tensor):
    """A tensor that can be computed with: not of half precision, and not on a device without double precision."""
    tensor = tensor.detach()
    tensor = tensor.cpu() if tensor.device.type == "mps" else tensor
    return tensor if tensor.dtype in (torch.float32, torch.float64) or not tensor.is_floating_point() else tensor.float()


def double(tensor):
    return computable(tensor).double()


def lengths(rows):
    return torch.linalg.vector_norm(rows, dim=-1, dtype=torch.float64)


def slack(terms):
    return 4.0 * (terms + 8) * UNIT


def _kept(values, kept):
    """Nothing of records that are left out, whatever they hold."""
    return values if kept.all() else torch.where(kept.reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)


def _blocks(count, most):
    """Places of whole blocks of `most`, and of what is left."""
    whole = count // most * most
    return [slice(at, to) for at, to in ((0, whole), (whole, count)) if to > at]


def _weighted(rows, weights, kept, most, exact):
    """Weighted sums of vectors, a row per record: of `most` records at a time."""
    rows = _kept(rows, kept)
    rows = rows.double() if exact else rows
    weights = weights.to(rows.dtype)
    for some in _blocks(len(rows), most):
        size = min(most, len(rows[some]))
        yield torch.bmm(weights[some].reshape(-1, 1, size), rows[some].reshape(-1, size, rows.shape[1])).squeeze(1)


def in_range(weights):
    """Whether products with these weights keep the digits of single precision."""
    used = weights[weights > 0.0]
    return not len(used) or bool(used.min() >= _LEAST and used.max() <= 1.0 / _LEAST)


def patches(module, x):
    """What a convolution reads, (records, groups, positions, numbers)."""
    dimensions = CONVOLUTIONS[type(module)]
    x = F.pad(x, module._reversed_padding_repeated_twice, mode="constant" if module.padding_mode == "zeros" else module.padding_mode)
    for d in range(dimensions):
        x = x.unfold(2 + d, (module.kernel_size[d] - 1) * module.dilation[d] + 1, module.stride[d])[..., :: module.dilation[d]]
    x = x.unflatten(1, (module.groups, -1))  # a view: patches are copied once, positions last
    x = x.permute(0, 1, 2, *range(3 + dimensions, 3 + 2 * dimensions), *range(3, 3 + dimensions))
    return x.reshape(len(x), module.groups, module.in_channels // module.groups * math.prod(module.kernel_size), -1).mT


def read_rows(module, x):
    """What a linear or convolutional layer reads, (records, groups, positions, numbers)."""
    x = computable(x)
    return x.reshape(len(x), 1, -1, x.shape[-1]) if isinstance(module, torch.nn.Linear) else patches(module, x)


def written_rows(module, g):
    g = computable(g)
    if isinstance(module, torch.nn.Linear):
        return g.reshape(len(g), 1, -1, g.shape[-1])
    return g.reshape(len(g), module.groups, module.out_channels // module.groups, -1).mT


class Products:
    """Records of a linear or convolutional layer: read (b, groups, T, i), written (b, groups, T, o)."""

    def __init__(self, module, calls, maps=(None, None)):
        read = [read_rows(module, call.args[0]) for call in calls]
        written = [written_rows(module, call.written) for call in calls]
        self.read = read[0] if len(read) == 1 else torch.cat(read, dim=2)
        self.written = written[0] if len(written) == 1 else torch.cat(written, dim=2)
        if self.read.dtype != self.written.dtype:
            self.read, self.written = self.read.double(), self.written.double()
        self.weight = module.weight if module.weight.requires_grad else None
        self.bias = module.bias if module.bias is not None and module.bias.requires_grad else None
        self.of_read, self.of_written = maps
        self.rows = None
        self.longest = 0.0  # of what was read, once it is known
        positions, inputs, outputs = self.read.shape[2], self.read.shape[3], self.written.shape[3]
        if positions > 1 and inputs * outputs <= _DIRECT * positions * (inputs + outputs):
            self._compute_rows()
            return
        if positions > 1:
            self.read, self.written = self.read.double(), self.written.double()
        if self.of_read is not None and self.weight is not None:
            self.read = self.of_read(self.read)
        if self.of_written is not None:
            self.written = self.of_written(self.written)

    def _compute_rows(self):
        self.rows = []
        if self.weight is not None:
            rows = self.written.mT @ self.read
            if self.of_read is not None:
                rows = self.of_read(rows)
            if self.of_written is not None:
                rows = self.of_written(rows.mT).mT
            self.rows.append((self.weight, rows.flatten(1)))
        if self.bias is not None:
            rows = self.written.sum(dim=2)
            self.rows.append((self.bias, (rows if self.of_written is None else self.of_written(rows)).flatten(1)))
        self.read = self.written = None

    def dense(self):
        """The gradients of the records, by parameter."""
        if self.rows is None:
            self._compute_rows_of_mapped()
        return self.rows

    def _compute_rows_of_mapped(self):
        self.of_read = self.of_written = None
        self._compute_rows()

    def squares(self):
        if self.rows is not None:
            masses = sum(lengths(rows).square() for _, rows in self.rows)
            return masses * (1.0 + slack(sum(rows.shape[1] for _, rows in self.rows))), masses
        count, groups, positions, inputs = self.read.shape
        outputs = self.written.shape[-1]
        norms = masses = torch.zeros(count, dtype=torch.float64, device=self.read.device)
        longest = lengths(self.written)
        if self.weight is not None:
            read = lengths(self.read)
            self.longest = float(read.max()) if len(read) else 0.0
            mass = (longest * read).sum(dim=2)
            if positions == 1:
                square = mass.square().sum(dim=1)
            else:
                square = ((self.written @ self.written.mT) * (self.read @ self.read.mT)).sum(dim=(1, 2, 3)).clamp(min=0.0)
            masses = masses + mass.square().sum(dim=1)
            norms = norms + square + slack(positions**2 * groups + inputs + outputs) * masses
        if self.bias is not None:
            mass = longest.sum(dim=2).square().sum(dim=1)
            square = mass if positions == 1 else self.written.sum(dim=2).square().sum(dim=(1, 2))
            masses = masses + mass
            norms = norms + square + slack(positions + outputs * groups) * mass
        return norms, masses

    def sums(self, weights, kept, most, exact=False):
        """(parameter, weighted sums of the gradients of `most` records at a time, a row each)."""
        if self.rows is not None:
            for parameter, rows in self.rows:
                for total in _weighted(rows, weights, kept, most, exact):
                    yield parameter, total
            return
        read, written = _kept(self.read, kept), _kept(self.written, kept)
        if exact or not self.longest <= _LONGEST:
            read, written = read.double(), written.double()
        written = written * weights.to(written.dtype).reshape(-1, 1, 1, 1)
        for some in _blocks(len(read), most):
            size = min(most, len(read[some]))
            # (blocks, groups, records and positions, numbers)
            g, a = (part[some].reshape(-1, size, *part.shape[1:]).transpose(1, 2).flatten(2, 3) for part in (written, read))
            if self.weight is not None:
                yield self.weight, (g.mT @ a).flatten(1)
            if self.bias is not None:
                yield self.bias, g.sum(dim=2).flatten(1)


class Lookups:
    """Records of an embedding: indices (b, T), written (b, T, width)."""

    def __init__(self, module, calls, maps=(None, None)):
        self.weight = module.weight
        self.indices = torch.cat([call.args[0].reshape(len(call.args[0]), -1) for call in calls], dim=1)
        self.written = torch.cat([double(call.written).reshape(len(call.written), -1, call.written.shape[-1]) for call in calls], dim=1)
        self.indices = self.indices.to(self.written.device)
        if module.padding_idx is not None:
            self.written = torch.where((self.indices == module.padding_idx).unsqueeze(2), 0.0, self.written)

    def squares(self):
        count, positions = self.indices.shape
        rows = torch.arange(count, device=self.indices.device).reshape(-1, 1)
        keys, which = torch.unique(rows * len(self.weight) + self.indices, return_inverse=True)
        width = self.written.shape[-1]
        sums = self.written.new_zeros((len(keys), width)).index_add_(0, which.reshape(-1), self.written.reshape(-1, width))
        squares = self.written.new_zeros(count).index_add_(0, keys // len(self.weight), sums.square().sum(dim=1))
        masses = lengths(self.written).sum(dim=1).square()
        return squares + slack(positions * (width + 2)) * masses, masses

    def sums(self, weights, kept, most, exact=False):
        written = _kept(self.written, kept) * weights.reshape(-1, 1, 1)
        for at in range(0, len(written), most):
            total = written.new_zeros(self.weight.shape)
            total.index_add_(0, self.indices[at : at + most].reshape(-1), written[at : at + most].flatten(0, 1))
            yield self.weight, total.reshape(1, -1)

    def dense(self):
        count, _, width = self.written.shape
        rows = self.written.new_zeros((count, len(self.weight), width))
        rows.scatter_add_(1, self.indices.unsqueeze(2).expand(-1, -1, width), self.written)
        return [(self.weight, rows.flatten(1))]


class Rows:
    """Records of layers with a gradient for each: `rows` by parameter, those of several layers with the same one added."""

    def __init__(self, rows):
        self.rows = {}
        for parameter, values in rows:
            if parameter is not None and parameter.requires_grad:
                self.rows[parameter] = self.rows[parameter] + values if parameter in self.rows else values

    def squares(self):
        squares = sum(lengths(rows).square() for rows in self.rows.values())
        return squares * (1.0 + slack(sum(rows.shape[1] for rows in self.rows.values()))), squares

    def sums(self, weights, kept, most, exact=False):
        for parameter, rows in self.rows.items():
            for total in _weighted(rows, weights, kept, most, exact):
                yield parameter, total

    def dense(self):
        return list(self.rows.items())


def norms(module, calls, maps=(None, None)):
    """Records of LayerNorm and GroupNorm."""
    return Rows(pair for call in calls for pair in _of_norm(module, double(call.args[0]), double(call.written)))


def _of_norm(module, x, g):
    if isinstance(module, torch.nn.GroupNorm):
        normal = F.group_norm(x, module.num_groups, eps=module.eps)
        normal, g = (part.reshape(len(part), module.num_channels, -1) for part in (normal, g))
        return [(module.weight, (g * normal).sum(dim=2)), (module.bias, g.sum(dim=2))]
    normal = F.layer_norm(x, module.normalized_shape, eps=module.eps)
    size = math.prod(module.normalized_shape)
    normal, g = (part.reshape(len(part), -1, size) for part in (normal, g))
    return [(module.weight, (g * normal).sum(dim=1)), (module.bias, g.sum(dim=1))]


def tensors(values):
    """The tensors in nested lists, tuples and dicts."""
    if torch.is_tensor(values):
        return [values]
    if isinstance(values, dict):
        values = list(values.values())
    return [tensor for value in values for tensor in tensors(value)] if isinstance(values, (list, tuple)) else []


def by_record(module, calls, maps=(None, None)):
    """Records of a module without a rule: the module alone, record by record (torch.func; a loop where that does not know an operation)."""
    known = dict(module.named_parameters())
    parameters = {name: p.detach() for name, p in known.items() if p.requires_grad}
    rest = {name: value.detach() for name, value in [*known.items(), *module.named_buffers()] if name not in parameters}
    pairs = []
    for call in calls:
        leaves, form = tree_flatten((call.args, call.kwargs))
        places = [i for i, leaf in enumerate(leaves) if torch.is_tensor(leaf) and leaf.ndim and len(leaf) == len(call.written)]

        def product(values, written, *records, leaves=leaves, form=form, places=places):
            given = list(leaves)
            for i, record in zip(places, records):
                given[i] = record.unsqueeze(0)
            args, kwargs = tree_unflatten(given, form)
            output = tensors(torch.func.functional_call(module, {**values, **rest}, args, kwargs))[0]
            return (output * written.unsqueeze(0)).sum()

        one, records = torch.func.grad(product), [leaves[i] for i in places]
        if len(call.written) == 0:
            rows = {name: p.new_zeros((0, *p.shape)) for name, p in parameters.items()}
        else:
            try:
                rows = torch.func.vmap(one, in_dims=(None, 0, *[0] * len(records)), randomness="different")(parameters, call.written, *records)
            except (RuntimeError, ValueError, NotImplementedError):
                each = [one(parameters, call.written[i], *(r[i] for r in records)) for i in range(len(call.written))]
                rows = {name: torch.stack([e[name] for e in each]) for name in parameters}
        pairs += [(known[name], computable(value).flatten(1)) for name, value in rows.items()]
    return Rows(pairs)


RULES = {torch.nn.Linear: Products, torch.nn.Conv1d: Products, torch.nn.Conv2d: Products, torch.nn.Conv3d: Products,
         torch.nn.Embedding: Lookups, torch.nn.LayerNorm: norms, torch.nn.GroupNorm: norms}
