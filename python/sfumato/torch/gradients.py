"""Gradients record by record (torch.func)."""

from __future__ import annotations

import torch
from torch.func import functional_call, grad, vmap

from .states import trained

_MIXING = (torch.nn.modules.batchnorm._BatchNorm,)


def refuse_mixing(model):
    """Layers in which the records of a batch see each other have no gradient of one record."""
    for name, module in model.named_modules():
        if isinstance(module, _MIXING) and (module.training or module.running_mean is None):
            raise ValueError(f"{name}: {type(module).__name__} mixes the records of a batch. Use GroupNorm or LayerNorm.")


def per_sample_gradients(model, loss, inputs, targets):
    """The gradient of each record's own loss: a dict in the layout of the trained parameters, records first.

    `loss(prediction, target)` is called with a batch of one record, as PyTorch's losses are.
    """
    refuse_mixing(model)
    parameters = {name: parameter.detach() for name, parameter in trained(model)}
    rest = {name: value.detach() for name, value in [*model.named_parameters(), *model.named_buffers()] if name not in parameters}
    if len(inputs) == 0:
        return {name: value.new_zeros((0, *value.shape)) for name, value in parameters.items()}

    def of_record(values, x, y):
        prediction = functional_call(model, {**values, **rest}, (x.unsqueeze(0),))
        return loss(prediction, y.unsqueeze(0)).sum()

    return vmap(grad(of_record), in_dims=(None, 0, 0), randomness="different")(parameters, inputs, targets)


def flat(gradients):
    """A matrix with a row per record."""
    return torch.cat([value.flatten(1) for value in gradients.values()], dim=1)


def record_gradient_differences(model, loss, batch, record, *, reduction="sum"):
    """What each record changes in the gradient of a batch: the rows that `sfumato.design` hides.

    `batch` is (inputs, targets) without the records, `record` (inputs, targets) of one record or several. With reduction="sum" the
    difference is the gradient of the record's loss; with "mean", what the mean over the batch changes when the record joins it.
    """
    inputs, targets = record
    with_record = flat(per_sample_gradients(model, loss, inputs, targets))
    if reduction == "sum":
        return with_record.double().cpu().numpy()
    if reduction != "mean":
        raise ValueError(f"reduction: {reduction!r} is unknown. Use 'sum' or 'mean'.")
    others = flat(per_sample_gradients(model, loss, *batch))
    mean = others.mean(dim=0)
    return ((with_record - mean) / (len(others) + 1)).double().cpu().numpy()
