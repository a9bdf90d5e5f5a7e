"""The optimiser that make_private returns: steps on clipped sums with noise, and the account of what was released."""

from __future__ import annotations

import math
import os
import re
import weakref

import torch

from ..accounting import Accountant
from .clipping import ClippedSums
from .metrics import Whitened
from .private import _LEFT_OUT, PrivateOptimizer
from .reductions import reduction_of_backward
from .shaping import Map

_OURS = (
    "each batch that the model was given is the one that the loader drew for that step, record by record, on whatever device and after whatever "
    "transformation of each by itself (the number of records is checked)",
    "the loss of a batch is the sum or, where that was said, the mean of the losses of its records by themselves (not a mean over the tokens that count, "
    "or weighted by class), no scale of it depends on the records, and the collate function lets none see another (texts are padded to a fixed length)",
)
_SHAPED = "the weights before the first step, at which the metric of the noise was made, and the shape of a record are public"
_RUN = "this is the account of the run "
_hooked: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # what counts the records of a model, which its hooks hold


def refuse_processes(model):
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)) or (
            torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1):
        raise ValueError("model: training on several processes or devices at once has no guarantee here: each would draw batches and noise of its own.")


class AccountFile:
    """An account on disk that is never behind what was released: it is written, and safe on the disk, before the release."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.found = Accountant.load(self.path) if os.path.exists(self.path) else None

    @property
    def run(self):
        """The run whose account was found."""
        runs = [c[len(_RUN) :] for c in self.found.conditions if c.startswith(_RUN)] if self.found is not None else []
        if self.found is not None and len(runs) != 1:
            raise ValueError(f"{self.path}: is an account, and not one that make_private has written. Name another file.")
        return runs[0] if runs else None

    def write(self, accountant, run):
        accountant.require(_RUN + run)
        accountant.save(self.path, force=True)


class PrivateTraining(PrivateOptimizer, torch.optim.Optimizer):
    """The optimiser that make_private returns: the user's, on clipped sums with noise. Schedulers take it for the optimiser it is.

    `stepped` says whether the last step() moved the parameters: a part of a batch that is not its last does not.
    """

    def __init__(self, optimizer, model, *, target_delta, loss_reduction, most, metric, layer_clips, shaping, allocate, file, **keys):
        super().__init__(optimizer, model, None, metric=metric, layer_clips=layer_clips, **keys)
        self.target_delta = target_delta
        self.stepped = False
        self._mean = loss_reduction == "mean"
        self._most = most  # steps of a target, or epochs where each is a release
        self._charged = 0  # of those; loading an earlier state takes none back
        self._allocate = allocate
        self._shaping, self._made = shaping, shaping is None
        self._file = file
        if file is not None and file.found is not None:
            self._run = file.run
            self._charged = _charges(file.found, "epochs" if allocate else "steps")
            if shaping is not None and shaping.multiplier is not None:
                self._charged -= 0 if allocate else 1
        self._named = None, None  # the account that has the conditions
        self._failed = None  # the draw that lost a part
        self._totals = None  # by parameter, between the parts of a batch
        before = _hooked.get(model)
        if before is not None and before() is not None:
            before().remove()
        # A batch has more records than this with a probability below e^-60.
        self._largest = math.ceil(self.expected_batch_size + 12 * self.expected_batch_size**0.5 + 60) if self.sample_rate < 1 else self.records
        self._sums = ClippedSums(model, self.records, self._largest)
        self._sums.on_loss = self._check_reduction
        _hooked[model] = weakref.ref(self._sums)
        clips = getattr(self._metric, "clips", None)
        if clips is not None and getattr(self._metric, "sizes", None) != self._sums.sizes():
            raise ValueError("noise: 'per_layer' needs the parameters of each layer beside each other in the model, and none in two layers.")
        self._clips = self.max_grad_norm if clips is None else dict(zip(self._sums._layers, clips))
        if isinstance(self._metric, Whitened):
            roots = self._metric.root.split([p.numel() for p in self._trained])
            self._sums.roots = {p: root.to(p.device if p.device.type != "mps" else "cpu") for p, root in zip(self._trained, roots)}

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @param_groups.setter
    def param_groups(self, groups):  # what they have is looked at in each step
        self.optimizer.param_groups = groups

    state = property(lambda self: self.optimizer.state)
    defaults = property(lambda self: self.optimizer.defaults)

    def __repr__(self):
        return f"Private {self.optimizer!r}"

    def add_param_group(self, param_group):
        raise ValueError("optimizer: parameters cannot be added to a private optimiser, whose records are clipped in those that it has. "
                         "Add them before make_private, or make the model private again, with accountant=.")

    # Hooks are those of the optimiser inside, which is what they get.

    def register_step_pre_hook(self, hook):
        return self.optimizer.register_step_pre_hook(hook)

    def register_step_post_hook(self, hook):
        return self.optimizer.register_step_post_hook(hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return self.optimizer.register_state_dict_pre_hook(hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return self.optimizer.register_state_dict_post_hook(hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return self.optimizer.register_load_state_dict_pre_hook(hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return self.optimizer.register_load_state_dict_post_hook(hook, prepend)

    def batches(self, *arguments, **keys):
        raise RuntimeError("batches: take those of the loader that make_private returned.")

    # The account.

    def _charge(self, charge):
        """Accounts for a release before it is made: what cannot be accounted for is not released."""
        self._require_conditions()
        charge()
        if self._file is not None:
            self._file.write(self.accountant, self._run)

    @property
    def left(self):
        """How many steps the target has left, or epochs of random allocation; None without a target."""
        return None if self._most is None else max(0, self._most - self._charged)

    def _require_most(self):
        if self._most is not None and self._charged >= self._most:
            unit = "epochs" if self._allocate else "steps"
            raise RuntimeError(f"loader: the noise was found for {self._most} {unit}, which were made. More would cost more than target_epsilon: "
                               "ask for more epochs, or give noise_multiplier.")

    def _begin(self):
        """Before an epoch: the metric before the first, and an epoch of random allocation is charged as a whole."""
        refuse_processes(self.model)
        self._require_neighbours()
        self._refuse_others()
        if not self._made:
            self._make_metric()
        if self._allocate:
            self._require_most()
            self._charge(lambda: self.accountant.compose(noise_multiplier=self._metric.noise_multiplier, sampler="allocate",
                                                         batches_per_epoch=self._allocate, epochs=1))
            self._charged += 1

    def _make_metric(self):
        if self._shaping.multiplier is not None:
            if self._file is not None and self._file.found is not None:
                raise ValueError(f"{self._file.path}: has the release of a metric, which this optimiser does not have. Load the checkpoint of that run "
                                 "(optimizer.load_state_dict), or name another file.")
            self._charge(lambda: self.accountant.step(self._shaping.multiplier))
        self._sums.maps = self._shaping.maps()
        self._made = True

    # What the loader tells.

    def _may_draw(self, part=None):
        if self._waiting:
            raise RuntimeError("loader: the batch before was not given to step(). Every batch is for one step, also an empty one.")
        if self._totals is not None and (part is None or not self._is_open(part)):
            self._leave_out()

    def _drew(self, part):
        """Whether this part is for a step: not if its batch has lost another."""
        if part.draw is self._failed:
            return False
        if not self._allocate:
            self._require_most()
        self._sums.clear()
        self._waiting.append(part)
        return True

    def _is_open(self, part):
        return any(waiting is part for waiting in self._waiting) or (self._totals is not None and self._draw is part.draw)

    def _leave_out(self):
        self._waiting.clear()
        self._totals = None
        self._sums.clear()
        self.accountant.require(_LEFT_OUT)

    # A step.

    def _check_reduction(self):
        found = reduction_of_backward()
        if found is not None and (found == "mean") != self._mean:
            raise ValueError(f"loss_reduction: the loss is a {found} over the records, and loss_reduction={'mean' if self._mean else 'sum'!r} was said. "
                             f"Say loss_reduction={found!r}.")

    def step(self, closure=None):
        """A private step on the batch that the loader drew last; of a batch in parts, the last part makes it."""
        if closure is not None:
            raise ValueError("closure: would see the records several times in one step, which has no guarantee. Call backward(), then step().")
        if not self._waiting:
            raise RuntimeError("step: no batch was drawn for this step. Take one batch of the loader that make_private returned for each step.")
        part = self._waiting.pop()
        try:
            self._add(part)
            if part.last:
                private = self._noisy() / self.expected_batch_size
                if self._allocate:
                    self._require_conditions()
                else:
                    self._charge(lambda: self.accountant.step(self._metric.noise_multiplier, self.sample_rate))
                    self._charged += 1
        except BaseException:
            self._failed = part.draw
            self._leave_out()
            raise
        self._sums.clear()
        self.stepped = part.last
        if part.last:
            self._totals = None
            self._move(private)

    def _noisy(self):
        """The sum with noise, as a gradient of the parameters. Noise is added in the coordinates in which records were clipped."""
        total = torch.cat([self._totals[parameter] for parameter in self._trained])
        if isinstance(self._metric, Whitened):
            root, factor = self._metric.root.to(total.device), self._metric.factor
            total = (total + (self._metric.deviation * self._noise.normals(len(total))).to(total.device)) * root
            return total if factor is None else total + (self._metric.deviation * (factor @ self._noise.normals(factor.shape[1]))).to(total.device)
        total = total + self._metric.noise(len(total), self._noise).to(total.device)
        return self._turned_back(total) if self._sums.maps else total

    def _turned_back(self, total):
        parts = dict(zip(self._trained, total.split([p.numel() for p in self._trained])))
        for module, (read, written) in self._sums.maps.items():
            groups = getattr(module, "groups", 1)
            weight, bias = module.weight, module.bias
            rows = parts[weight].reshape(groups, len(weight) // groups, -1)
            rows = rows if read is None else read(rows)
            parts[weight] = (rows if written is None else written(rows.mT).mT).reshape(-1)
            if written is not None and bias is not None and bias in parts:
                parts[bias] = written(parts[bias].reshape(groups, -1)).reshape(-1)
        return torch.cat([parts[parameter] for parameter in self._trained])

    def _add(self, part):
        if part.process != os.getpid():
            raise RuntimeError("step: another process has drawn this batch, and may step on it too. Draw batches in the process that steps.")
        refuse_processes(self.model)
        self._require_neighbours()
        self._refuse_others()
        if self._sums.seen != part.records:
            raise RuntimeError(f"step: the model read {self._sums.seen} records in training mode since the loader drew {part.records}. Give it the batches "
                               "of the loader that make_private returned, once each, after model.train(); evaluate with model.eval() or torch.no_grad().")
        self._sums.refuse()
        if self._totals is None:
            self._draw, self._drawn = part.draw, 0
            self._totals = {p: torch.zeros(p.numel(), dtype=torch.float64, device=p.device if p.device.type != "mps" else "cpu") for p in self._trained}
        self._drawn += part.records
        if self._drawn > self._largest:
            raise RuntimeError(f"step: a batch of more than {self._largest} records, for whose sum there is no bound.")
        self._sums.add(self._totals, self._clips, float(part.records) if self._mean else 1.0)

    def _require_conditions(self):
        named = self.accountant._native, self._metric.conditions
        if self._named[0] is named[0] and self._named[1] == named[1]:  # conditions stay
            return
        self._named = named
        super()._require_conditions()
        self.accountant.require(*_OURS, *([] if self._shaping is None else [_SHAPED]))

    # What it guarantees.

    def guarantee(self, delta=None, allow_large_delta=False):
        """What the steps so far guarantee at `delta`, else at the target_delta; None if `seed` was given."""
        delta = self.target_delta if delta is None else delta
        if delta is None:
            raise ValueError("delta: is missing. An epsilon holds at a delta, far below 1 / records: delta=1e-5.")
        return super().guarantee(delta, allow_large_delta)

    def epsilon(self, delta=None):
        """The proven epsilon of the steps so far."""
        guarantee = self.guarantee(delta)
        if guarantee is None:
            raise ValueError(f"there is no guarantee: {self.why_no_guarantee}")
        return guarantee.epsilon

    # Checkpoints.

    def load_state_dict(self, state):
        if self._totals is not None:
            self._leave_out()
        super().load_state_dict(state)
        self._sums.clear()
        self._charged = max(self._charged, state["charged"])
        if (state["maps"] is None) != (self._shaping is None):
            raise ValueError("state_dict: is of a run with another noise.")
        if self._shaping is not None and state["maps"]:
            named = {name: module for module, name in self._sums._layers.items()}
            self._sums.maps = {named[name]: tuple(None if m is None else Map(**m) for m in pair) for name, pair in state["maps"].items()}
            self._made = True
        if self._file is not None and len(self.accountant):
            self._file.write(self.accountant, self._run)

    def state_dict(self):
        maps = None
        if self._shaping is not None:  # {} before it is made
            maps = {self._sums._layers[module]: tuple(None if m is None else m.state() for m in pair) for module, pair in self._sums.maps.items()}
        return {**super().state_dict(), "waiting": bool(self._waiting) or self._totals is not None, "charged": self._charged, "maps": maps}

    def __getstate__(self):
        raise TypeError("optimizer: hooks of its model cannot be copied. Save state_dict(), which has the account.")


def _charges(accountant, unit):
    """How many steps or epochs an account has."""
    return sum(int(n) for n in re.findall(rf"^{unit} = (\d+)$", accountant._native.save(), re.MULTILINE))
