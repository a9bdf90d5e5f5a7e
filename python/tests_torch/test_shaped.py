"""Shaped noise: the metric beside whitened gradients of each record, its release beside its own noise, what it costs, and attacks on all of it."""

import copy
import math
import os
import tempfile
import warnings
from unittest import mock

import numpy as np
import sfumato
import sfumato.torch as st
from sfumato.torch.clipping import ClippedSums
from sfumato.torch.gradients import per_sample_gradients
from sfumato.torch.shaping import Map, Shaping, _Layer, map_of
from sfumato.torch.states import trained
from support import data, loss, mlp, torch, unittest
from test_make_private import head, loop, private, task
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", "make_private: ")


def some_map(size, generator, spread=1):
    rank = max(1, size // 3)
    directions = torch.linalg.qr(torch.randn((size, rank), dtype=torch.float64, generator=generator))[0]
    return Map(directions, torch.rand(rank, dtype=torch.float64, generator=generator) * 0.9, 0.5 + float(torch.rand((), generator=generator)), spread)


def matrix(part, size):
    """A map as a matrix, by its formula."""
    if part is None:
        return torch.eye(size, dtype=torch.float64)
    inner = part.scale * (torch.eye(len(part.directions), dtype=torch.float64) - part.directions @ torch.diag(part.shrink) @ part.directions.T)
    return torch.kron(inner, torch.eye(part.spread, dtype=torch.float64))


MODELS = {
    "linear": ((4,), mlp),
    "linear over positions": ((5, 4), lambda: head(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2), size=10)),
    "linear by Gram matrices": ((2, 40), lambda: head(nn.Linear(40, 50), nn.Tanh(), size=100)),
    "conv1d with groups": ((4, 9), lambda: head(nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), nn.Tanh(), size=24)),
    "conv2d by channels": ((20, 5, 5), lambda: head(nn.Conv2d(20, 3, 3), nn.Tanh(), size=27)),
    "conv by Gram matrices": ((8, 3, 4), lambda: head(nn.Conv2d(8, 30, 3), nn.Tanh(), size=60)),
}


class Sums(unittest.TestCase):
    def test_are_those_of_whitened_gradients_of_the_records(self):
        for name, (shape, make) in MODELS.items():
            generator = torch.Generator().manual_seed(5)
            torch.manual_seed(1)
            model = make().train()
            x, y = task(shape, 9, torch.float32)
            plain = copy.deepcopy(model).double()
            sums = ClippedSums(model, 9)
            for module in sums._layers:
                layer = _Layer(module)
                sums.maps[module] = some_map(layer.width, generator, layer.spread), some_map(layer.outputs, generator)
            rows = per_sample_gradients(plain, loss, x.double(), y)
            named = {n: m for m, n in sums._layers.items()}
            turned = []
            for parameter, values in rows.items():
                module = named[parameter.rpartition(".")[0]]
                groups = getattr(module, "groups", 1)
                read, written = sums.maps[module]
                outputs = len(module.weight) // groups
                left = matrix(written, outputs)
                if parameter.endswith("bias"):
                    turned.append((values.reshape(9, groups, outputs) @ left.T).flatten(1))
                else:
                    values = values.reshape(9, groups, outputs, -1)
                    turned.append((left @ values @ matrix(read, values.shape[-1])).flatten(1))
            whole = torch.cat(turned, dim=1)
            for clip in (float(whole.norm(dim=1).median()), 1e4):
                used = clip * (1 - sums.margin())
                expected = (whole * (used / whole.norm(dim=1)).clamp(max=1).reshape(-1, 1)).sum(dim=0)
                totals = {p: torch.zeros(p.numel(), dtype=torch.float64) for _, p in trained(model)}
                sums.clear()
                model.zero_grad()
                loss(model(x), y, reduction="sum").backward()
                sums.refuse()
                sums.add(totals, clip, 1.0)
                given = torch.cat(list(totals.values()))
                self.assertLess(float((given - expected).norm() / expected.norm()), 1e-5, (name, clip))

    def test_no_record_moves_a_sum_by_more_than_the_clip(self):
        """One record more or less, huge or tiny, among many; in maps that stretch by a thousand."""
        for name, (shape, make) in MODELS.items():
            generator = torch.Generator().manual_seed(6)
            torch.manual_seed(2)
            model = make().train()
            x, y = task(shape, 130, torch.float32)
            x *= torch.logspace(-5, 5, 130).reshape(-1, *[1] * len(shape))
            sums = ClippedSums(model, 130)
            for module in sums._layers:
                layer = _Layer(module)
                read = some_map(layer.width, generator, layer.spread)
                read.shrink = 1 - torch.logspace(-3, 0, len(read.shrink), dtype=torch.float64)
                sums.maps[module] = read, some_map(layer.outputs, generator)

            def total(x, sums=sums, model=model, y=y):
                totals = {p: torch.zeros(p.numel(), dtype=torch.float64) for _, p in trained(model)}
                sums.clear()
                loss(model(x), y, reduction="sum").backward()
                sums.add(totals, 0.7, 1.0)
                return torch.cat(list(totals.values()))

            full = total(x)
            for i in (0, 64, 129):
                empty = x.clone()
                empty[i] = math.nan
                moved = float((full - total(empty)).norm())
                self.assertLessEqual(moved, 0.7, (name, i))

    def test_a_long_sum_of_equal_records(self):
        """Rounding of sums in single precision grows with their length, and not of ours."""
        model = nn.Linear(1, 1).train()
        x, y = torch.full((4000, 1), 0.1), torch.zeros(4000)
        sums = ClippedSums(model, 4001)

        def total(x):
            totals = {p: torch.zeros(p.numel(), dtype=torch.float64) for _, p in trained(model)}
            sums.clear()
            nn.functional.mse_loss(model(x).squeeze(1), y[: len(x)], reduction="sum").backward()
            sums.add(totals, 0.01, 1.0)
            return torch.cat(list(totals.values()))

        full = total(x)
        gone = x.clone()
        gone[1234] = math.inf
        moved = float((full - total(gone)).norm())
        self.assertLessEqual(moved, 0.01)
        self.assertGreater(moved, 0.0099)


def images(count=400, size=8):
    torch.manual_seed(3)
    smooth = torch.randn(count, 1, 1, 1) + 0.3 * torch.randn(count, 1, size, 1) + 0.1 * torch.randn(count, 1, size, size)
    y = torch.arange(count) % 2
    smooth[:, :, 0, 0] += (2.0 * y - 1).reshape(-1, 1)
    return smooth, y


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(64, 2))


def shaped(shape=None, model=None, set_=None, epochs=4, target=3, batch=40, kind=torch.optim.SGD, **keys):
    model = network() if model is None else model
    x, y = images() if set_ is None else set_
    target = {} if "noise_multiplier" in keys else dict(target_epsilon=target, epochs=epochs)
    return st.make_private(model, kind(model.parameters(), lr=0.2), DataLoader(TensorDataset(x, y), batch_size=batch), target_delta=1e-4,
                           max_grad_norm=1.0, noise="shaped", shape=shape, **target, **keys)


class Maps(unittest.TestCase):
    def test_whiten_what_was_released_and_keep_its_mean_square(self):
        torch.manual_seed(0)
        values = torch.logspace(2, -2, 12, dtype=torch.float64)
        turn = torch.linalg.qr(torch.randn(12, 12, dtype=torch.float64))[0]
        moments = turn @ torch.diag(values) @ turn.T
        part = map_of(moments, 0.0, st.Shape(read="white", least=1e-6, rank=12))
        whole = matrix(part, 12)
        white = whole @ moments @ whole
        self.assertLess(float((white - torch.eye(12) * white.trace() / 12).norm() / white.norm()), 1e-3)
        self.assertAlmostEqual(float(white.trace() / moments.trace()), 1.0, 6)
        self.assertLess(float((part(torch.eye(12)).double() - whole).norm()), 1e-5)

    def test_flat_spectra_change_nothing(self):
        for edge in (0.0, 0.3, 5.0):
            part = map_of(2.0 * torch.eye(6, dtype=torch.float64), edge, st.Shape())
            whole = matrix(part, 6)
            self.assertLess(float((whole - torch.eye(6)).norm()), 1e-6, edge)

    def test_leading_directions_of_wide_layers(self):
        torch.manual_seed(0)
        values = torch.cat([torch.tensor([40.0, 20.0, 10.0]), torch.rand(597)]).double()
        turn = torch.linalg.qr(torch.randn(600, 600, dtype=torch.float64))[0]
        part = map_of(turn @ torch.diag(values) @ turn.T, 2.0, st.Shape(read="white"))
        self.assertEqual(part.directions.shape, (600, 3))
        self.assertGreater(float((part.directions.T @ turn[:, :3]).abs().diagonal().min()), 0.999)


class Release(unittest.TestCase):
    def of(self, set_, adjacency="zero_out", mu=1.0):
        """(mean moments, largest eigenvalue of their noise), by place of the layer."""
        model = network()
        made = Shaping(st.Shape(mu=mu), model, DataLoader(TensorDataset(*set_), batch_size=40), None, mu, adjacency)
        noise = mock.Mock()
        noise.normals = lambda count: torch.zeros(count, dtype=torch.float64)
        made.noise = noise
        with mock.patch("sfumato.torch.shaping.map_of", side_effect=lambda moments, edge, shape, spread=1: (moments, edge)):
            return dict(enumerate(made._released().values()))

    def test_moves_by_no_more_than_its_noise_was_made_for(self):
        """Whatever a record is: the moments of all layers, over the deviations of their noise, move by at most the mu that is paid for."""
        x, y = images(130)
        for adjacency, mu in (("zero_out", 1.0), ("replace_one", 0.3)):
            whole = self.of((x, y), adjacency, mu)
            for value in (torch.full((1, 8, 8), 1e6), torch.full((1, 8, 8), 1e-3), torch.eye(8).reshape(1, 8, 8) * 50, torch.randn(1, 8, 8) * 1e20,
                          torch.full((1, 8, 8), math.nan), x[5] * 30):
                other = x.clone()
                other[7] = value
                if adjacency == "zero_out":
                    other[7] = math.nan  # nothing of the record
                    base = x.clone()
                    base[7] = value
                else:
                    base = x
                squares = 0.0
                one, two = self.of((base, y), adjacency, mu), self.of((other, y), adjacency, mu)
                for module in whole:
                    size = len(one[module][0])
                    deviation = one[module][1] * 130 / math.sqrt(2.0 * size)  # of the diagonal
                    change = (one[module][0] - two[module][0]) * 130
                    squares += float(change.square().sum()) / deviation**2
                self.assertLessEqual(squares**0.5, mu, (adjacency, float(value.reshape(-1)[0])))

    def test_a_long_record_moves_it_by_nearly_as_much(self):
        x, y = images(130)
        base, other = x.clone(), x.clone()
        base[7], other[7] = 1e4, math.nan
        one, two = self.of((base, y)), self.of((other, y))
        squares = sum(float(((one[m][0] - two[m][0]) * 130).square().sum()) / (one[m][1] * 130 / math.sqrt(2.0 * len(one[m][0]))) ** 2 for m in one)
        self.assertGreater(squares, 0.5)

    def test_is_in_the_account_and_within_the_target(self):
        model, optimizer, loader = shaped()
        self.assertEqual(len(optimizer.accountant), 0)
        loop(model, optimizer, loader, 4)
        self.assertEqual(len(optimizer.guarantee().releases), 2)
        self.assertLess(2.95, optimizer.epsilon().value)
        self.assertLessEqual(optimizer.epsilon().value, 3.0)
        self.assertTrue(any("the metric of the noise" in c for c in optimizer.guarantee().conditions))
        steps = sfumato.Accountant("zero_out")
        steps.step(optimizer.noise_multiplier, 0.1, 40)
        self.assertLess(steps.get_epsilon(1e-4).value, optimizer.epsilon().value)
        with self.assertRaisesRegex(RuntimeError, "40 steps"):
            next(iter(loader))

    def test_the_noise_of_moments_is_that_which_is_paid_for(self):
        """Of the second moments of records that are all nothing, only the noise is left."""
        x, y = torch.full((50, 1, 8, 8), math.nan), torch.zeros(50, dtype=torch.long)
        model = network()
        found = []
        made = Shaping(st.Shape(mu=2.0), model, DataLoader(TensorDataset(x, y), batch_size=10), None, 2.0, "zero_out")
        made.noise = st.metrics.Noise()
        with mock.patch("sfumato.torch.shaping.map_of", side_effect=lambda moments, edge, shape, spread=1: found.append((moments, edge))):
            made._released()
        self.assertEqual([len(m) for m, _ in found], [9, 64])
        for moments, edge in found:
            size = len(moments)
            deviation = edge / math.sqrt(2.0 * size)
            self.assertTrue(torch.equal(moments, moments.T))
            upper = moments[torch.triu_indices(size, size, 1).unbind()]
            self.assertLess(abs(float(upper.std()) * math.sqrt(2.0) / deviation - 1), 0.5 if size == 9 else 0.1)
        total = sum(1.0 / (edge * 50 / math.sqrt(2.0 * len(m)) / length**2) ** 2 for (m, edge), (length, _) in zip(found, made._lengths().values()))
        self.assertAlmostEqual(math.sqrt(total), 2.0, 6)

    def test_refuses_what_it_cannot_release(self):
        class Named(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = network()

            def forward(self, x):
                return self.net(x["image"])

        x, y = images(40)
        rows = [{"image": a, "label": int(b)} for a, b in zip(x, y)]
        model = Named()
        loader = DataLoader(rows, batch_size=10)
        keys = dict(max_grad_norm=1.0, target_epsilon=3, target_delta=1e-3, epochs=1, noise="shaped")
        with self.assertRaisesRegex(ValueError, "shape: .*forward="):
            _, _, made = st.make_private(model, torch.optim.SGD(model.parameters(), lr=0.1), loader, **keys)
            next(iter(made))
        with self.assertRaisesRegex(ValueError, "release alone costs"):
            shaped(st.Shape(mu=5.0))
        with self.assertRaisesRegex(ValueError, "linear or convolutional"):
            st.make_private(nn.LayerNorm(4), torch.optim.SGD(nn.LayerNorm(4).parameters()), DataLoader(TensorDataset(*data())), **keys)
        for wrong in (dict(read="black"), dict(share=1.0), dict(mu=-1.0), dict(rank=0), dict(written="x"), dict(floor=0.0)):
            with self.assertRaisesRegex(ValueError, "shape: "):
                st.Shape(**wrong)


class Training(unittest.TestCase):
    def test_every_source_of_the_metric_trains(self):
        x, y = images()
        for shape in (st.Shape(), st.Shape(read="white"), st.Shape(read="pink"), st.Shape(read=x[:50]), st.Shape(written="imagined"),
                      st.Shape(read=None, written="imagined")):
            model, optimizer, loader = shaped(shape)
            loop(model, optimizer, loader, 4)
            model.eval()
            self.assertGreater(float((model(x).argmax(1) == y).float().mean()), 0.8, shape)
            self.assertEqual(len(optimizer.guarantee().releases), 2 if shape.released else 1)

    def test_noise_is_equal_where_records_are_clipped(self):
        """The parameters of a model that nothing moves but noise, taken back through the maps."""
        x, y = images(60)
        model = network()
        model, optimizer, loader = shaped(st.Shape(read="pink", written="imagined"), model, (x * math.nan, y), batch=20, noise_multiplier=2.0)
        optimizer.param_groups[0]["lr"] = 1.0
        squares = {}
        for _ in range(100):
            before = [p.detach().clone() for p in model.parameters()]
            loop(model, optimizer, loader)
            for (name, p), q in zip(model.named_parameters(), before):
                module = model.get_submodule(name.rpartition(".")[0])
                read, written = optimizer._sums.maps[module]
                moved = (p.detach() - q).double().reshape(len(p), -1)
                left = torch.linalg.inv(matrix(written, len(p)))
                moved = left @ moved @ (torch.linalg.inv(matrix(read, moved.shape[1])) if name.endswith("weight") else torch.eye(1, dtype=torch.float64))
                squares.setdefault(name, []).append(float(moved.square().mean()) / len(loader))
        for name, values in squares.items():
            self.assertLess(abs(np.mean(values) ** 0.5 * 20 / 2.0 - 1), 0.2 if name.endswith("bias") else 0.06, name)

    def test_public_variances(self):
        torch.manual_seed(1)
        variances = {"0.weight": torch.rand(8, 4) + 0.1, "0.bias": torch.rand(8) + 0.1, "2.weight": torch.rand(3, 8) + 0.1, "2.bias": torch.rand(3) + 0.1}
        model, plain = mlp(3), mlp(3)
        model, optimizer, loader = private(model, count=40, batch=40, seed=1, noise_multiplier=1e-7, max_grad_norm=0.5, noise=variances)
        other = st.PrivateOptimizer(torch.optim.SGD(plain.parameters(), lr=0.5), plain, loss, noise_multiplier=1e-7, max_grad_norm=0.5, sample_rate=1.0,
                                    records=40, metric=variances, seed=1)
        loop(model, optimizer, loader, 3)
        for x, y in other.batches(data(40), 3):
            other.step(x, y)
        for p, q in zip(model.parameters(), plain.parameters()):
            torch.testing.assert_close(p, q, rtol=2e-3, atol=2e-4)

    def test_checkpoints_have_the_metric(self):
        model, optimizer, loader = shaped(kind=torch.optim.Adam)
        loop(model, optimizer, loader)
        file = tempfile.TemporaryFile()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        file.seek(0)
        kept = torch.load(file, weights_only=False)
        again, other, batches = shaped(kind=torch.optim.Adam)
        again.load_state_dict(kept["model"])
        other.load_state_dict(kept["optimizer"])
        loop(again, other, batches, 3)
        self.assertEqual(len(other.guarantee().releases), 2)  # the metric once
        self.assertLessEqual(other.epsilon().value, 3.0)
        for (a, _), (b, _) in zip(optimizer._sums.maps.values(), other._sums.maps.values()):
            self.assertTrue(torch.equal(a.directions, b.directions))
        with self.assertRaisesRegex(ValueError, "another noise"):
            model = network()
            _, plain, _ = st.make_private(model, torch.optim.Adam(model.parameters()), DataLoader(TensorDataset(*images()), batch_size=40),
                                          max_grad_norm=1.0, noise_multiplier=1.0)
            plain.load_state_dict(kept["optimizer"])


class Allocation(unittest.TestCase):
    def test_each_record_is_in_one_batch_of_an_epoch_by_itself(self):
        model, optimizer, loader = private(count=60, batch=10, sampler="allocate")
        sizes, together = [], 0
        for _ in range(400):
            batches = list(loader._draws.batches())
            self.assertEqual(sorted(i for b in batches for i in b), list(range(60)))
            sizes += [len(b) for b in batches]
            together += any(0 in b and 1 in b for b in batches)
        # A shuffle has batches of ten; independent records have binomial ones: variance 60 (1/6) (5/6) = 8.33, of 2,400 sizes.
        self.assertLess(abs(np.var(sizes) / (60 / 6 * 5 / 6) - 1), 0.2)
        self.assertLess(abs(together / 400 - 1 / 6), 0.08)  # four deviations; a shuffle has 9 / 59

    def test_an_epoch_is_charged_when_it_begins(self):
        model, optimizer, loader = private(noise_multiplier=None, target_epsilon=2.0, epochs=2, sampler="allocate")
        batches = iter(loader)
        x, y = next(batches)
        once = sfumato.Accountant("zero_out")
        once.compose(noise_multiplier=optimizer.noise_multiplier, sampler="allocate", batches_per_epoch=6, epochs=1)
        self.assertEqual(optimizer.epsilon().value, once.get_epsilon(1e-3).value)
        loss(model(x), y).backward()
        optimizer.step()
        self.assertEqual(optimizer.epsilon().value, once.get_epsilon(1e-3).value)
        batches.close()
        loop(model, optimizer, loader)
        self.assertEqual(optimizer.steps, 7)
        self.assertLess(1.9, optimizer.epsilon().value)
        self.assertLessEqual(optimizer.epsilon().value, 2.0)
        with self.assertRaisesRegex(RuntimeError, "2 epochs"):
            next(iter(loader))

    def test_goes_with_the_metric(self):
        model, optimizer, loader = shaped(sampler="allocate", epochs=2)
        loop(model, optimizer, loader, 2)
        self.assertLess(2.9, optimizer.epsilon().value)
        self.assertLessEqual(optimizer.epsilon().value, 3.0)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "account.toml")
        self.addCleanup(self.folder.cleanup)

    def test_the_account_on_disk_is_never_behind(self):
        """Whenever parameters move, the file has that step already."""
        model, optimizer, loader = shaped(account=self.path)
        seen = []

        def look(*_):
            found = sfumato.Accountant.load(self.path)
            seen.append(found.get_epsilon(1e-4).value)
            self.assertEqual(found.get_epsilon(1e-4).value, optimizer.epsilon().value)

        optimizer.register_step_pre_hook(look)
        made = optimizer._shaping.maps

        def release():
            self.assertEqual(len(sfumato.Accountant.load(self.path)), 1)
            return made()

        optimizer._shaping.maps = release
        loop(model, optimizer, loader)
        self.assertEqual(len(seen), 10)
        self.assertEqual(seen, sorted(seen))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_goes_on_after_a_kill(self):
        child = os.fork()
        if child == 0:
            try:
                model, optimizer, loader = shaped(account=self.path)
                for k, (x, y) in enumerate(loader):
                    optimizer.zero_grad()
                    loss(model(x), y).backward()
                    if k == 5:
                        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, self.path + ".pt")
                    if k == 8:
                        with mock.patch.object(optimizer.optimizer, "step", side_effect=lambda: os.kill(os.getpid(), 9)):
                            optimizer.step()
                    optimizer.step()
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -9)
        model, optimizer, loader = shaped(account=self.path)
        with self.assertRaisesRegex(ValueError, "Load the checkpoint"):
            next(iter(loader))
        kept = torch.load(self.path + ".pt", weights_only=False)
        self.assertEqual(kept["optimizer"]["steps"], 5)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        nine = sfumato.Accountant("zero_out")
        nine.step(optimizer._shaping.multiplier)
        nine.step(optimizer.noise_multiplier, 0.1, 9)
        self.assertEqual(optimizer.epsilon().value, nine.get_epsilon(1e-4).value)  # with what the checkpoint does not know
        self.assertEqual(optimizer.left, 31)
        loop(model, optimizer, loader, 3)
        self.assertEqual(optimizer.left, 1)
        loop(model, optimizer, loader)  # ends after one step
        self.assertEqual((optimizer.left, optimizer.steps), (0, 5 + 31))
        self.assertLessEqual(optimizer.epsilon().value, 3.0)
        with self.assertRaisesRegex(RuntimeError, "40 steps"):
            next(iter(loader))

    def test_files_of_others(self):
        sfumato.Accountant("zero_out").save(self.path)
        with self.assertRaisesRegex(ValueError, "not one that make_private has written"):
            shaped(account=self.path)


class Canary(unittest.TestCase):
    def test_a_gradient_canary_shows_what_is_proven_and_no_more(self):
        """A record whose whitened gradient is one coordinate at the clip, in full batches of it and nothing: the score is the sum of what steps release
        along it. 200 models of each kind certify mu within about 10 %."""
        def score(member, models=200, steps=4, sigma=2.0):
            values = []
            for _ in range(models):
                model = nn.Linear(3, 1, bias=False)
                with torch.no_grad():
                    model.weight.zero_()
                x, y = torch.tensor([[1e6, 0.0, 0.0] if member else [math.nan] * 3]), torch.zeros(1)
                part = Map(torch.eye(3, 1, dtype=torch.float64), torch.tensor([0.9], dtype=torch.float64), 1.0)
                made = DataLoader(TensorDataset(x, y), batch_size=1)
                model, optimizer, loader = st.make_private(model, torch.optim.SGD(model.parameters(), lr=1.0), made, max_grad_norm=1.0,
                                                           noise_multiplier=sigma, noise="shaped", shape=st.Shape(read="white"), loss_reduction="sum")
                optimizer._sums.maps, optimizer._made = {model: (part, None)}, True
                for _ in range(steps):
                    for x, y in loader:
                        optimizer.zero_grad()
                        model(x).sum().backward()
                        optimizer.step()
                values.append(-float(model.weight[0, 0]) / 0.1)  # taken back through the map
            return np.array(values)

        inside, outside = score(True), score(False)
        proven = math.sqrt(4) / 2.0
        deviation = math.sqrt((inside.var() + outside.var()) / 2)
        shown = (inside.mean() - outside.mean()) / deviation
        error = 2.0 * math.sqrt(2.0 / 200 + shown**2 / (4 * 200))  # two standard errors
        self.assertLess(shown - error, proven)
        self.assertGreater(shown + error, proven / 2)
        self.assertGreater(shown, proven / 2)
        answer = sfumato.audit(inside, outside, claim=(float(optimizer_epsilon(2.0, 4)), 1e-5))
        self.assertNotEqual(answer.verdict, "violated")


def optimizer_epsilon(sigma, steps):
    account = sfumato.Accountant("zero_out")
    account.step(sigma, 1.0, steps)
    return account.get_epsilon(1e-5).value


if __name__ == "__main__":
    unittest.main()
