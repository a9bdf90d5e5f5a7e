"""make_private: its sums beside the gradients of each record (torch.func), the loop with what people put into it, and what it refuses."""

import copy
import gc
import importlib.util
import io
import itertools
import math
import os
import warnings
import weakref
from unittest import mock

import sfumato.torch as st
from sfumato.torch.clipping import ClippedSums
from sfumato.torch.gradients import flat, per_sample_gradients
from sfumato.torch.states import trained
from support import data, loss, mlp, torch, unittest
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", "make_private: ")
LOADER = dict(max_grad_norm=1.0, noise_multiplier=1.0, target_delta=1e-3)


class Sequences(nn.Module):
    """Indices that come again, a layer that is called twice, attention by hand, layer norms."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6, padding_idx=0)
        self.norm = nn.LayerNorm(6)
        self.inner = nn.Linear(6, 6)
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        h = self.norm(self.words(x))
        h = h + self.inner(torch.softmax(h @ h.mT, dim=-1) @ h)
        return self.out(torch.relu_(self.inner(h)).mean(dim=1))


def frozen():
    model = mlp()
    model[0].weight.requires_grad_(False)
    return model


def tied():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3))
    model[2].weight = model[0].weight
    return model


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(4, 6, batch_first=True)

    def forward(self, x):
        return self.cells(x)[0][:, -1]


class Language(nn.Module):
    """Embeddings that are the weights of the last layer too."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(11, 6), nn.Linear(6, 11)
        self.out.weight = self.words.weight

    def forward(self, x):
        return self.out(torch.tanh(self.words(x)).mean(dim=1))


class Attends(nn.Module):
    """Modules without a rule: attention, and parameters of its own."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.slope, self.out = nn.PReLU(), nn.Linear(4, 3)

    def forward(self, x):
        return self.out(self.slope(self.attention(x, x, x, need_weights=False)[0]).mean(dim=1))


def head(*layers, size):
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(size, 3))


# What the records look like, and the model.
MODELS = {
    "linear": ((4,), mlp),
    "frozen weight": ((4,), frozen),
    "linear over positions": ((5, 4), lambda: head(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2), size=10)),
    "linear by Gram matrices": ((2, 40), lambda: head(nn.Linear(40, 50), nn.Tanh(), size=100)),
    "conv1d": ((4, 9), lambda: head(nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), nn.Tanh(), size=24)),
    "conv2d": ((3, 8, 7), lambda: head(nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 0)), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3, padding="same",
                                       padding_mode="reflect", bias=False), nn.MaxPool2d(2), size=24)),
    "conv3d": ((2, 4, 5, 4), lambda: head(nn.Conv3d(2, 4, 2, groups=2), nn.Tanh(), size=144)),
    "conv by Gram matrices": ((8, 3, 4), lambda: head(nn.Conv2d(8, 30, 3), nn.Tanh(), size=60)),
    "group norm": ((4, 3, 3), lambda: head(nn.Conv2d(4, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Tanh(), nn.LayerNorm([4, 3, 3]), size=36)),
    "sequences": (None, Sequences),
    "shared weight": ((4,), tied),
    "shared embedding": (None, Language),
    "without a rule": ((5, 4), Attends),
}


def task(shape, count, dtype):
    generator = torch.Generator().manual_seed(3)
    x = torch.randint(0, 11, (count, 7), generator=generator) if shape is None else torch.randn((count, *shape), generator=generator, dtype=dtype)
    return x, torch.randint(0, 3, (count,), generator=generator)


def wanted(model, x, y, clips):
    """The sum of clipped gradients, from the gradients of the records; clips by layer if it is a list."""
    rows = per_sample_gradients(model, loss, x, y)
    if not isinstance(clips, list):
        whole = flat(rows)
        return (whole * (clips / whole.norm(dim=1)).clamp(max=1).reshape(-1, 1)).sum(dim=0)
    layers = {}
    for name, value in rows.items():
        layers.setdefault(name.rpartition(".")[0], []).append(value.flatten(1))
    parts = [torch.cat(values, dim=1) for values in layers.values()]
    return torch.cat([(part * (clip / part.norm(dim=1)).clamp(max=1).reshape(-1, 1)).sum(dim=0) for part, clip in zip(parts, clips)])


class Sums(unittest.TestCase):
    def given(self, sums, model, x, y, clips, reduction, physical):
        totals = {p: torch.zeros(p.numel(), dtype=torch.float64) for _, p in trained(model)}
        for at in range(0, len(x), physical):
            sums.clear()
            model.zero_grad()
            given = x[at : at + physical]
            loss(model(given), y[at : at + physical], reduction=reduction).backward()
            sums.refuse()
            sums.add(totals, clips, float(len(given)) if reduction == "mean" else 1.0)
        return torch.cat(list(totals.values()))

    def test_equal_those_of_the_gradients_of_the_records(self):
        for (name, (shape, make)), dtype in itertools.product(MODELS.items(), (torch.float32, torch.float64)):
            torch.manual_seed(1)
            model = make().to(dtype).train()
            x, y = task(shape, 13, dtype)
            plain = copy.deepcopy(model)
            lengths = flat(per_sample_gradients(plain, loss, x, y)).norm(dim=1)
            sums = ClippedSums(model, 13)
            counts = [sum(p.numel() for p in m.parameters(recurse=False) if p.requires_grad) for m in sums._layers]
            settings = itertools.product((float(lengths.median()), 2 * float(lengths.max())), ("mean", "sum"), (13, 5, 1), (False, True))
            for clip, reduction, physical, by_layer in settings:
                if by_layer and len(sums._groups) < len(sums._layers) or name == "without a rule" and (physical < 13 or by_layer):
                    continue
                used = clip * (1 - sums.margin())
                clips = {m: clip * (i + 1) for i, m in enumerate(sums._layers)} if by_layer else clip
                expected = wanted(plain, x, y, [used * (i + 1) for i in range(len(counts))] if by_layer else used).double()
                given = self.given(sums, model, x, y, clips, reduction, physical)
                with self.subTest(name, dtype=dtype, clip=clip, reduction=reduction, physical=physical, by_layer=by_layer):
                    self.assertLess(float((given - expected).norm() / expected.norm()), 1e-10 if dtype == torch.float64 else 1e-5)

    def test_of_a_module_that_knows_no_batches_of_models(self):
        """torch.func cannot go through an LSTM, so that its records are taken one by one."""
        torch.manual_seed(1)
        model = nn.Sequential(Last(), nn.Linear(6, 3)).train()
        x, y = task((5, 4), 6, torch.float32)
        expected = 0.0
        plain = copy.deepcopy(model)
        sums = ClippedSums(model, 6)
        used = 0.3 * (1 - sums.margin())
        for i in range(6):
            plain.zero_grad()
            loss(plain(x[i : i + 1]), y[i : i + 1]).backward()
            row = torch.cat([p.grad.reshape(-1) for p in plain.parameters()])
            expected = expected + row * (used / row.norm()).clamp(max=1)
        given = self.given(sums, model, x, y, 0.3, "sum", 6)
        self.assertLess(float((given - expected).norm() / expected.norm()), 1e-5)

    def test_of_one_record_are_never_above_the_clip(self):
        for name, (shape, make) in MODELS.items():
            for scale in (1.0, 1e-18, 1e12):
                torch.manual_seed(2)
                model = make().train()
                x, y = task(shape, 6, torch.float32)
                x = x if shape is None else x * scale
                sums = ClippedSums(model, 1000)
                for i in range(6):
                    given = self.given(sums, model, x[i : i + 1], y[i : i + 1], 1e-3, "sum", 1)
                    self.assertLessEqual(float(given.norm()), 1e-3, (name, scale))

    def test_move_by_no_more_than_the_clip_with_one_record(self):
        torch.manual_seed(0)
        model = head(nn.Conv2d(1, 3, 3), nn.Tanh(), size=108).train()
        x, y = task((1, 8, 8), 300, torch.float32)
        x *= torch.logspace(-6, 6, 300).reshape(-1, 1, 1, 1)
        sums = ClippedSums(model, 300)
        full = self.given(sums, model, x, y, 1.0, "sum", 300)
        for i in (0, 150, 299):
            empty = x.clone()
            empty[i] = math.nan  # contributes nothing
            without = self.given(sums, model, empty, y, 1.0, "sum", 300)
            self.assertTrue(torch.isfinite(without).all())
            self.assertLessEqual(float((full - without).norm()), 1.0)

    def test_add_up_several_losses_and_leave_out_what_is_not_used(self):
        model = mlp().train()
        plain = copy.deepcopy(model)
        x, y = data(8)
        sums = ClippedSums(model, 100)
        out = model(x)
        loss(out, y, reduction="sum").backward(retain_graph=True)
        loss(2 * out, y, reduction="sum").backward()
        totals = {p: torch.zeros(p.numel(), dtype=torch.float64) for _, p in trained(model)}
        sums.refuse()
        sums.add(totals, 1e6, 1.0)
        both = flat(per_sample_gradients(plain, lambda p, t: loss(p, t) + loss(2 * p, t), x, y)).sum(dim=0)
        torch.testing.assert_close(torch.cat(list(totals.values())).float(), both, rtol=1e-5, atol=1e-5)


def loop(model, optimizer, loader, epochs=1, scheduler=None, prepare=lambda x: x):
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(prepare(x)), y).backward()
            optimizer.step()
            if scheduler is not None and optimizer.stepped:
                scheduler.step()


def private(model=None, count=60, batch=10, kind=torch.optim.SGD, loader=(), **keys):
    model = mlp() if model is None else model
    made = DataLoader(TensorDataset(*data(count)), batch_size=batch, shuffle=True, **dict(loader))
    return st.make_private(model, kind(model.parameters(), lr=0.5), made, **{**LOADER, **keys})


class Loop(unittest.TestCase):
    def test_trains_a_network_with_a_scheduler_to_a_target(self):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 2))
        y = torch.arange(400) % 2
        x = torch.randn(400, 1, 8, 8) + 2.0 * (y * 2 - 1).reshape(-1, 1, 1, 1) * torch.linspace(-1, 1, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.5)
        loader = DataLoader(TensorDataset(x, y), batch_size=40)
        model, optimizer, loader = st.make_private(model, optimizer, loader, target_epsilon=3, target_delta=1e-4, epochs=4, max_grad_norm=1.0)
        self.assertIsInstance(optimizer, torch.optim.Optimizer)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4 * len(loader))
        loop(model, optimizer, loader, 4, scheduler, prepare=lambda x: x.double().float() / 2)
        self.assertEqual(optimizer.steps, 40)
        self.assertAlmostEqual(optimizer.param_groups[0]["lr"], 0.0)
        self.assertLess(2.9, optimizer.epsilon().value)
        self.assertLessEqual(optimizer.epsilon().value, 3.0)
        model.eval()
        self.assertGreater(float((model(x).argmax(1) == y).float().mean()), 0.8)
        guarantee = optimizer.guarantee()
        self.assertEqual(guarantee.adjacency, "zero_out")
        self.assertFalse([c for c in guarantee.conditions if "left out" in c])
        with self.assertRaisesRegex(RuntimeError, "40 steps"):
            next(iter(loader))

    def test_does_what_the_gradients_of_the_records_do(self):
        for keys, physical, reduction in itertools.product(({}, {"noise": "per_layer"}), (None, 4), ("mean", "sum")):
            model, reference = mlp(3), mlp(3)
            model, optimizer, loader = private(model, count=40, batch=40, kind=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9), seed=1,
                                               noise_multiplier=1e-7, max_grad_norm=0.5, loss_reduction=reduction, max_physical_batch_size=physical,
                                               **keys)
            plain = torch.optim.SGD(reference.parameters(), lr=0.5, momentum=0.9)
            for _ in range(3):
                for x, y in loader:
                    optimizer.zero_grad()
                    loss(model(x), y, reduction=reduction).backward()
                    optimizer.step()
                clip = 0.5 * (1 - optimizer._sums.margin())
                vector = wanted(reference, *data(40), [clip / 2**0.5] * 2 if keys else clip) / 40
                at = 0
                for p in reference.parameters():
                    p.grad, at = vector[at : at + p.numel()].reshape(p.shape).clone(), at + p.numel()
                plain.step()
            self.assertEqual(optimizer.steps, 3)
            for p, q in zip(model.parameters(), reference.parameters()):
                torch.testing.assert_close(p, q, rtol=1e-4, atol=1e-5)
            self.assertIsNone(optimizer.guarantee())  # seeded
            with self.assertRaisesRegex(ValueError, "seed"):
                optimizer.epsilon()

    def test_counts_steps_and_not_parts_and_steps_on_empty_batches(self):
        model, optimizer, loader = private(batch=1, max_physical_batch_size=1)
        moved = 0
        sizes = []
        for x, y in loader:
            sizes.append(len(x))
            self.assertLessEqual(len(x), 1)
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
            moved += optimizer.stepped
        self.assertIn(0, sizes)
        self.assertEqual((moved, optimizer.steps, len(loader)), (60, 60, 60))
        self.assertTrue(all(torch.isfinite(p).all() for p in model.parameters()))
        self.assertIn("60 steps", "; ".join(optimizer.guarantee().releases).replace("60 x", "60 steps"))

    def test_keeps_workers_and_collate(self):
        def collate(rows):
            x, y = zip(*rows)
            return {"x": torch.stack(x) * 2.0, "y": torch.tensor([int(v) for v in y]), "names": ["?"] * len(rows)}

        model, optimizer, loader = private(loader=dict(num_workers=1, collate_fn=collate))
        for batch in loader:
            loss(model(batch["x"]), batch["y"]).backward()
            optimizer.step()
        self.assertEqual(optimizer.steps, 6)
        self.assertFalse([c for c in optimizer.guarantee().conditions if "left out" in c])

    def test_a_model_that_is_a_layer(self):
        model, optimizer, loader = private(nn.Linear(4, 3))
        loop(model, optimizer, loader)
        self.assertEqual(optimizer.steps, 6)

    def test_an_earlier_state_takes_no_steps_back(self):
        model, optimizer, loader = private(noise_multiplier=None, target_epsilon=2.0, epochs=2)
        state = copy.deepcopy(optimizer.state_dict())
        loop(model, optimizer, loader, 2)
        optimizer.load_state_dict(state)
        with self.assertRaisesRegex(RuntimeError, "12 steps"):
            loop(model, optimizer, loader)
        self.assertLessEqual(optimizer.epsilon().value, 2.0)

    def test_models_are_forgotten_and_keep_no_records(self):
        model, optimizer, loader = private(mlp(inputs=4))
        x, y = next(drawn := iter(loader))
        loss(model(x), y).backward()  # between draw and step
        file = io.BytesIO()
        marked = model._forward_hooks  # the hooks are in the file, the records are not
        self.assertTrue(marked)
        torch.save(model, file)
        reads = [t for calls in optimizer._sums._calls.values() for call in calls for t in call.args]
        self.assertTrue(reads and all(t.numpy().tobytes()[:16] not in file.getvalue() for t in reads if len(t)))
        again = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
        for _ in range(3):
            loss(again(x), y).backward()  # its hooks do nothing
        dead = weakref.ref(model)
        del model, optimizer, loader, x, y, reads, marked, drawn
        gc.collect()
        self.assertIsNone(dead())

    def test_steps_keep_nothing(self):
        model, optimizer, loader = private(Sequences(), loader=dict(collate_fn=lambda rows: (torch.zeros(len(rows), 7, dtype=torch.long) + 3,
                                                                                             torch.zeros(len(rows), dtype=torch.long))))
        def alive():
            gc.collect()
            return sum(1 for thing in gc.get_objects() if isinstance(thing, torch.Tensor))

        loop(model, optimizer, loader)
        before = alive()
        loop(model, optimizer, loader, 5)  # with probes among them
        self.assertLess(alive(), before + 10)

    def test_hooks_of_states(self):
        model, optimizer, loader = private()
        seen = []
        optimizer.register_state_dict_pre_hook(lambda *_: seen.append("before"))
        optimizer.register_state_dict_post_hook(lambda *_: seen.append("after"))
        optimizer.register_load_state_dict_pre_hook(lambda *_: seen.append("load"))
        optimizer.register_load_state_dict_post_hook(lambda *_: seen.append("loaded"))
        optimizer.load_state_dict(optimizer.state_dict())
        self.assertEqual(seen, ["before", "after", "load", "loaded"])

    def test_says_once_what_has_no_rule(self):
        with self.assertWarnsRegex(UserWarning, "attention .MultiheadAttention., slope .PReLU. has"):
            private(Attends())

    def test_goes_on_from_a_state(self):
        model, optimizer, loader = private(kind=torch.optim.Adam)
        loop(model, optimizer, loader)
        weights, state = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
        again, other, batches = private(kind=torch.optim.Adam)
        again.load_state_dict(weights)
        other.load_state_dict(state)
        self.assertEqual(other.epsilon().value, optimizer.epsilon().value)
        loop(again, other, batches)
        self.assertEqual(other.steps, 12)
        self.assertGreater(other.epsilon().value, optimizer.epsilon().value)
        with self.assertRaisesRegex(TypeError, "state_dict"):
            copy.deepcopy(optimizer)


    def test_adds_the_noise_that_it_accounts_for(self):
        x, y = data(30)
        for keys in ({}, {"noise": "per_layer", "layer_clips": [1.0, 3.0]}):
            model = mlp(hidden=40)
            made = DataLoader(TensorDataset(torch.full_like(x, math.nan), y), batch_size=10)
            model, optimizer, loader = st.make_private(model, torch.optim.SGD(model.parameters(), lr=1.0), made, noise_multiplier=2.0, max_grad_norm=0.5, **keys)
            deviations = optimizer._metric.deviations if keys else [2.0 * 0.5] * 2
            self.assertAlmostEqual(optimizer._metric.noise_multiplier, 2.0)
            squares = [0.0, 0.0]
            for _ in range(20):
                before = [p.detach().clone() for p in model.parameters()]
                loop(model, optimizer, loader)  # no record contributes: the parameters move by noise alone
                for layer in (0, 1):
                    moved = torch.cat([(p.detach() - q).reshape(-1) for p, q in list(zip(model.parameters(), before))[2 * layer : 2 * layer + 2]])
                    squares[layer] += float(moved.double().square().mean()) / 60
            for square, deviation in zip(squares, deviations):
                self.assertLess(abs(square**0.5 * 10 / deviation - 1), 0.05)  # 120 parameters and more, 60 steps: a deviation of 0.8 %

    def test_goes_with_schedulers_evaluation_copies_and_number_formats(self):
        model, optimizer, loader = private(kind=torch.optim.AdamW)
        steps = []
        optimizer.register_step_post_hook(lambda *_: steps.append(1))
        loop(model, optimizer, loader, scheduler=torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10))
        self.assertEqual(len(steps), 6)
        torch.save(copy.deepcopy(model), io.BytesIO())
        for x, y in loader:
            model.eval()
            model(x)
            model.train()
            with torch.no_grad():
                model(x)
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(x)
            loss(out.float(), y).backward()
            optimizer.step()
        self.assertFalse([c for c in optimizer.guarantee().conditions if "left out" in c])
        model, optimizer, loader = private(mlp().bfloat16(), kind=torch.optim.SGD)
        loop(model, optimizer, loader, prepare=lambda x: x.bfloat16())
        self.assertEqual(model[0].weight.dtype, torch.bfloat16)
        again, other, batches = st.make_private(model, torch.optim.SGD(model.parameters(), lr=0.1), DataLoader(TensorDataset(*data())), max_grad_norm=1.0,
                                                noise_multiplier=1.0, target_delta=1e-3, accountant=optimizer.accountant)
        loop(again, other, batches, prepare=lambda x: x.bfloat16())
        self.assertEqual(len(other.guarantee().releases), 2)
        with self.assertRaisesRegex(RuntimeError, "read 0 records"):  # the hooks are those of the other now
            loop(model, optimizer, loader, prepare=lambda x: x.bfloat16())

    def test_finds_noise_for_groups_and_whole_batches(self):
        for keys in ({"batch": 60, "noise": "per_layer"}, {"accountant": st.private.Accountant("zero_out", 2)}):
            model, optimizer, loader = private(noise_multiplier=None, target_epsilon=2.0, epochs=2, **keys)
            loop(model, optimizer, loader, 2)
            self.assertLess(1.9, optimizer.epsilon().value)
            self.assertLessEqual(optimizer.epsilon().value, 2.0)

    def test_names_a_batch_that_was_left(self):
        def left():
            return [c for c in optimizer.guarantee().conditions if "left out" in c]

        model, optimizer, loader = private()
        for x, y in loader:
            loss(model(x), y).backward()
            optimizer.step()
            break
        self.assertFalse(left())
        for _ in loader:
            break
        self.assertTrue(left())
        loop(model, optimizer, loader)
        self.assertEqual(optimizer.steps, 7)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_steps_in_the_process_that_draws(self):
        model, optimizer, loader = private()
        x, y = next(batches := iter(loader))
        loss(model(x), y).backward()
        child = os.fork()
        if child == 0:
            try:
                optimizer.step()
            except RuntimeError as error:
                os._exit(7 if "another process" in str(error) else 1)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        optimizer.step()
        del batches


@unittest.skipUnless(importlib.util.find_spec("opacus"), "no Opacus")
class WithOpacus(unittest.TestCase):
    def test_our_accountant_inside(self):
        from opacus import PrivacyEngine

        st.register_with_opacus()
        engine = PrivacyEngine(accountant="sfumato")
        model = mlp()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, noise_multiplier=1.1, max_grad_norm=1.0,
                                                       data_loader=DataLoader(TensorDataset(*data()), batch_size=10))
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        ours = st.private.Accountant()
        ours.step(1.1, math.ceil(2**24 / 6) / 2**24, 6)
        self.assertAlmostEqual(engine.get_epsilon(1e-3), ours.get_epsilon(1e-3).value, 12)
        self.assertEqual(len(engine.accountant), 6)


class Mixes(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.first, self.second, self.how = nn.Linear(4, 4), nn.Linear(4, 3), how
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        if self.how == "before":
            x = x - x.mean(dim=0)
        h = self.first(x)
        if self.how == "between":
            h = h - h.mean(dim=0)
        if self.how == "elsewhere":
            h = h @ self.first.weight
        if self.how == "positions":
            h = self.first(x.repeat(2, 1)).reshape(2, len(x), 4).sum(dim=0)
        if self.how == "state":
            self.mean.add_(h.detach().sum(dim=0))
        if self.how == "median":
            x = x * (x > x.median()).float()
            h = self.first(x)
        if self.how == "largest":
            h = self.first(x) * (x.abs().argmax() == 0)
        if self.how == "cache":
            before, self.cache = getattr(self, "cache", None), x.detach().mean(dim=0)
            h = self.first(x if before is None else x + before)
        if self.how == "late":  # only later than in the first pass
            self.calls = getattr(self, "calls", 0) + 1
            h = self.first(x - x.mean(dim=0) if self.calls > 30 else x)
        if self.how == "transposed":
            h = self.first(torch.stack([x, x])).sum(dim=0)
        return self.second(h)


class Refuses(unittest.TestCase):
    def refuses(self, pattern, model=None, change=lambda *made: None, error=Exception, **keys):
        made = private(model, **keys)
        change(*made)
        before = [p.detach().clone() for p in made[0].parameters()]
        with self.assertRaisesRegex(error, pattern):
            loop(*made)
        for p, q in zip(made[0].parameters(), before):
            self.assertTrue(torch.equal(p, q))
        self.assertEqual(len(made[1].accountant), 0)
        return made

    def test_layers_without_a_rule(self):
        for model, pattern in ((nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 3)), "mixes the records.*GroupNorm"),
                               (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False).eval(), nn.Linear(4, 3)), "mixes"),
                               (nn.Embedding(4, 3, max_norm=1.0), "max_norm"),
                               (nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 3))), "weight_g.*weight_norm.*remove_weight_norm"),
                               (nn.Linear(4, 3).requires_grad_(False), "no trained parameter|empty")):
            with self.assertRaisesRegex(ValueError, pattern):
                private(model)
        with self.assertRaisesRegex(ValueError, "per_layer"):
            private(tied(), noise="per_layer")

    def test_models_that_mix_records(self):
        for how, pattern in (("before", "see each other"), ("between", "see each other"), ("elsewhere", "used elsewhere"),
                             ("positions", "first dimension"), ("transposed", "first dimension"), ("state", "mean: is a state"),
                             ("median", "see each other"), ("largest", "see each other"), ("cache", "keeps a state")):
            with self.subTest(how):
                self.refuses(pattern, Mixes(how))

    def test_models_that_sort_records_by_a_key(self):
        """Sorted and sorted back: gradients and outputs have the records in order, and the layers between have not."""
        class Sorts(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 3)

            def forward(self, x, key):
                order = key.argsort()
                return self.b(self.a(x[order])[order.argsort()])

        model = Sorts()
        x, y = data()
        made = DataLoader(TensorDataset(x, torch.arange(60) * 37 % 60, y), batch_size=10)
        model, optimizer, loader = st.make_private(model, torch.optim.SGD(model.parameters(), lr=0.1), made, **LOADER)
        with self.assertRaisesRegex(ValueError, "see each other"):
            for x, key, y in loader:
                loss(model(x, key), y).backward()
                optimizer.step()

    def test_models_that_mix_records_later(self):
        model, optimizer, loader = private(Mixes("late"))
        with self.assertRaisesRegex(ValueError, "see each other|same again"):
            loop(model, optimizer, loader, 40)

    def test_random_layers_pass_the_probe(self):
        import random

        class Drops(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 3)

            def forward(self, x):
                h = torch.nn.functional.dropout(self.a(x), 0.5, self.training)
                return self.b(h if random.random() < 0.5 else 2 * h)

        before = random.getstate()
        model, optimizer, loader = private(Drops())
        loop(model, optimizer, loader)
        self.assertEqual(optimizer.steps, 6)
        self.assertNotEqual(before, random.getstate())

    def test_a_loss_of_another_reduction(self):
        for said, reduction, refused in (("mean", "sum", True), ("sum", "mean", True), ("mean", "mean", False), ("sum", "sum", False)):
            for of in (lambda out, y: loss(out, y, reduction=reduction), lambda out, y: getattr(loss(out, y, reduction="none"), reduction)()):
                model, optimizer, loader = private(loss_reduction=said)
                x, y = next(drawn := iter(loader))
                if refused:
                    with self.assertRaisesRegex(ValueError, f"loss_reduction='{reduction}'"):
                        of(model(x), y).backward()
                else:
                    of(model(x), y).backward()
                    optimizer.step()
                del drawn
        model, optimizer, loader = private()
        for x, y in loader:  # a mean by hand, which nothing tells
            (loss(model(x), y, reduction="sum") / max(len(x), 1)).backward()
            optimizer.step()
        self.assertEqual(optimizer.steps, 6)

    def test_processes_that_join_later(self):
        model, optimizer, loader = private()
        x, y = next(iter_ := iter(loader))
        loss(model(x), y).backward()
        with mock.patch("torch.distributed.is_initialized", return_value=True), mock.patch("torch.distributed.get_world_size", return_value=2):
            with self.assertRaisesRegex(ValueError, "several processes"):
                optimizer.step()
        del iter_

    def test_batch_norm_that_wakes_up(self):
        norm = nn.BatchNorm1d(4, affine=False).eval()
        self.refuses("mixes|see each other|state", nn.Sequential(nn.Linear(4, 4), norm, nn.Linear(4, 3)), lambda model, *_: model.train())

    def test_models_that_changed(self):
        def add(model, *_):
            model.append(nn.Linear(3, 3))

        def thaw(model, *_):
            model[0].weight.requires_grad_(True)

        self.refuses("other parameters|other trained layers", change=add)
        model = mlp()
        model[0].weight.requires_grad_(False)
        self.refuses("other parameters|other trained layers", model, thaw)
        model, optimizer, loader = private()
        with self.assertRaisesRegex(ValueError, "cannot be added"):
            optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]})

    def test_evaluation_mode(self):
        self.refuses("read 0 records", change=lambda model, *_: model.eval())

    def test_changed_data(self):
        def longer(model, optimizer, loader):
            loader.dataset.tensors = data(61)

        self.refuses("61 records", change=longer)

    def test_foreign_batches(self):
        x, y = data(33)
        model, optimizer, loader = private()
        loss(model(x), y).backward()
        with self.assertRaisesRegex(RuntimeError, "no batch was drawn"):
            optimizer.step()
        batches = iter(loader)
        next(batches)
        loss(model(x), y).backward()
        with self.assertRaisesRegex(RuntimeError, "read 33 records"):
            optimizer.step()
        self.assertTrue([c for c in optimizer.accountant.conditions if "left out" in c])
        next(batches)
        with self.assertRaisesRegex(RuntimeError, "not given to step"):
            next(batches)

    def test_two_passes_and_parts_of_the_model(self):
        model, optimizer, loader = private(batch=12)
        x, y = next(iter_ := iter(loader))
        (loss(model(x[:1]), y[:1]) + loss(model(x[1:]), y[1:])).backward()
        with self.assertRaisesRegex(RuntimeError, "2 passes"):
            optimizer.step()
        x, y = next(iter_)
        (loss(model(x), y) + model[0](x).sum()).backward()
        with self.assertRaisesRegex(RuntimeError, "outside of a pass"):
            optimizer.step()
        x, y = next(iter_)
        loss(model(x), y)
        with self.assertRaisesRegex(RuntimeError, "backward"):
            optimizer.step()
        x, y = next(iter_)
        loss(model(x), y).backward()
        with self.assertRaisesRegex(ValueError, "closure"):
            optimizer.step(lambda: 0.0)
        x.zero_()
        with self.assertRaisesRegex(RuntimeError, "changed in place"):
            optimizer.step()

    def test_a_lost_part_takes_the_batch_with_it(self):
        model, optimizer, loader = private(batch=60, max_physical_batch_size=25)
        batches = iter(loader)
        x, y = next(batches)
        loss(model(x), y).backward()
        optimizer.step()
        self.assertFalse(optimizer.stepped)
        next(batches)
        with self.assertRaisesRegex(RuntimeError, "read 0 records"):
            optimizer.step()
        self.assertEqual(list(batches), [])
        self.assertEqual(optimizer.steps, 0)
        self.assertTrue([c for c in optimizer.accountant.conditions if "left out" in c])

    def test_settings(self):
        for keys, pattern in (({"noise": "whitest"}, "shaped"), ({"noise": "shaped"}, "target_epsilon"), ({"shape": st.Shape()}, "goes with"),
                              ({"sampler": "shuffle"}, "allocate"), ({"account": "a", "seed": 1}, "seed"), ({"target_epsilon": 1.0}, "not both"), ({"noise_multiplier": None}, "target_epsilon"),
                              ({"noise_multiplier": None, "target_epsilon": 1.0}, "epochs"), ({"loss_reduction": "none"}, "neither"),
                              ({"max_physical_batch_size": 0}, "number of records"), ({"target_delta": 0.5}, "above 1 / 60"),
                              ({"adjacency": "add_remove"}, "zero_out"), ({"layer_clips": [1.0]}, "per_layer")):
            with self.subTest(keys), self.assertRaisesRegex(ValueError, pattern):
                private(**keys)
        with self.assertRaisesRegex(ValueError, "LBFGS"):
            private(kind=torch.optim.LBFGS)
        with self.assertRaisesRegex(ValueError, "compiled"):
            private(torch.compile(mlp()))
        with mock.patch("torch.distributed.is_initialized", return_value=True), mock.patch("torch.distributed.get_world_size", return_value=2):
            with self.assertRaisesRegex(ValueError, "several processes"):
                private()
        model = mlp()
        with self.assertRaisesRegex(ValueError, "does not have the trained parameter 2.weight"):
            st.make_private(model, torch.optim.SGD(model[0].parameters(), lr=1.0), DataLoader(TensorDataset(*data())), **LOADER)
        with self.assertRaisesRegex(ValueError, "sampler of its own"):
            st.make_private(model, torch.optim.SGD(model.parameters(), lr=1.0), DataLoader(data()[0], sampler=[1, 2, 3]), **LOADER)


if __name__ == "__main__":
    unittest.main()
