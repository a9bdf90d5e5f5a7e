"""Scores of a model on records, larger where the model looks trained on them."""

from __future__ import annotations

import torch

from .gradients import flat, per_sample_gradients
from .states import trained, vector_of


def scores(model, records, kind="loss", *, loss=None, direction=None):
    """A score per record, as an array.

    `records` is (inputs, targets). Kinds: "loss" (minus the loss), "margin" (logit of the target less the largest other),
    "gradient_norm" (minus the norm of the record's gradient), "projection" (of all parameters on `direction`, one number for
    the model). `loss(prediction, target)` is cross entropy unless given.
    """
    inputs, targets = records
    loss = loss or torch.nn.functional.cross_entropy
    was = model.training
    model.eval()
    try:
        if kind == "projection":
            if direction is None:
                raise ValueError("direction: is missing. Give a vector of the parameters, or a dict in state_dict layout.")
            parameters = torch.cat([p.detach().reshape(-1).double() for _, p in trained(model)])
            value = parameters @ vector_of(direction, model).to(parameters.device)
            return value.expand(len(inputs)).cpu().numpy()
        if kind == "gradient_norm":
            return -flat(per_sample_gradients(model, loss, inputs, targets)).double().norm(dim=1).cpu().numpy()
        with torch.no_grad():
            predictions = model(inputs)
            if kind == "loss":
                values = [-loss(predictions[i : i + 1], targets[i : i + 1]).double() for i in range(len(inputs))]
                return torch.stack(values).reshape(-1).cpu().numpy()
            if kind == "margin":
                own = predictions.gather(1, targets.reshape(-1, 1)).double()
                others = predictions.double().scatter(1, targets.reshape(-1, 1), float("-inf")).max(dim=1, keepdim=True).values
                return (own - others).reshape(-1).cpu().numpy()
    finally:
        model.train(was)
    raise ValueError(f"kind: {kind!r} is unknown. Use 'loss', 'margin', 'gradient_norm' or 'projection'.")
