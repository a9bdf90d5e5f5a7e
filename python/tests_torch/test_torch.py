import pathlib
import tempfile

import numpy as np

import sfumato
import sfumato.torch as st
from support import SOURCE, data, loss, mlp, take, torch, unittest


def vector(model):
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]).double()


class Gradients(unittest.TestCase):
    def test_per_sample(self):
        model, (x, y) = mlp(), data(10)
        found = st.per_sample_gradients(model, loss, x, y)
        for i in range(10):
            model.zero_grad()
            loss(model(x[i : i + 1]), y[i : i + 1]).backward()
            for name, parameter in model.named_parameters():
                torch.testing.assert_close(found[name][i], parameter.grad)

    def test_differences_and_design(self):
        model, (x, y) = mlp(), data(20)
        batch, record = (x[1:], y[1:]), (x[:1], y[:1])
        means = []
        for inputs, targets in ((x, y), batch):
            model.zero_grad()
            loss(model(inputs), targets).backward()
            means.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]).double().numpy())
        found = st.record_gradient_differences(model, loss, batch, record, reduction="mean")
        np.testing.assert_allclose(found[0], means[0] - means[1], atol=1e-7)
        differences = st.record_gradient_differences(model, loss, batch, (x[:5], y[:5]))
        design = sfumato.design(differences, differences_are="public", trace=1.0, form="low-rank", floor=1e-3)
        optimizer = st.AnisotropicSGD(torch.optim.SGD(model.parameters(), lr=0.1), model, covariance=design, variance=1e-4)
        before = vector(model)
        optimizer.zero_grad()
        optimizer.step()  # no gradient: noise alone
        moved = (vector(model) - before).norm() ** 2
        self.assertTrue(1e-5 < moved < 1e-3, moved)  # the trace is 1e-4

    def test_scores(self):
        model, (x, y) = mlp(), data(7)
        losses = torch.nn.functional.cross_entropy(model(x), y, reduction="none").detach().numpy()
        np.testing.assert_allclose(st.scores(model, (x, y)), -losses, rtol=1e-5)
        logits = model(x).detach().double().numpy()
        margin = [logits[i, y[i]] - max(np.delete(logits[i], y[i])) for i in range(7)]
        np.testing.assert_allclose(st.scores(model, (x, y), "margin"), margin, rtol=1e-6)
        self.assertTrue((st.scores(model, (x, y), "gradient_norm") < 0).all())
        direction = {name: torch.ones_like(p) for name, p in model.named_parameters()}
        np.testing.assert_allclose(st.scores(model, (x, y), "projection", direction=direction), [vector(model).sum()] * 7, rtol=1e-6)
        with self.assertRaisesRegex(ValueError, "kind"):
            st.scores(model, (x, y), "margins")

    def test_path_kl(self):
        rng = np.random.default_rng(0)
        steps = [(0.1, rng.normal(size=5), rng.normal(size=5), np.full(5, 0.2)) for _ in range(3)]
        expected = sum(0.5 * 0.01 * ((g - h) ** 2 / s).sum() for _, g, h, s in steps)
        found = st.path_kl([(e, torch.tensor(g), torch.tensor(h), s) for e, g, h, s in steps])
        self.assertAlmostEqual(found.value, expected, places=12)
        self.assertEqual(found.claim, "estimate")
        self.assertEqual(st.path_kl([(0.1, [1.0], [2.0], [0.0])]).value, float("inf"))


class Noise(unittest.TestCase):
    def test_policies(self):
        x, y = data(30)
        for policy, keys in (("isotropic", {}), ("isotropic_per_layer", {}), ("anisotropic", {}), ("floored", {"floor": 0.01})):
            model = mlp()
            generator = torch.Generator().manual_seed(5)
            plain = torch.optim.SGD(model.parameters(), lr=0.0)
            optimizer = st.AnisotropicSGD(plain, model, policy, variance=1e-4, generator=generator, **keys)
            total = 0
            start = vector(model)
            for _ in range(200):
                optimizer.zero_grad()
                loss(model(x), y).backward()
                expected = optimizer.variances()
                before = vector(model)
                optimizer.step()
                total += (vector(model) - before).square() / 200
                torch.nn.utils.vector_to_parameters(start.float(), model.parameters())
            self.assertAlmostEqual(float(total.sum() / expected.sum()), 1.0, delta=0.1, msg=policy)
            self.assertIsNone(optimizer.guarantee(1e-5))
            self.assertTrue(optimizer.why_no_guarantee)
        with self.assertRaisesRegex(ValueError, "policy"):
            st.AnisotropicSGD(plain, model, "isotrop")
        with self.assertRaisesRegex(TypeError, "policy='isotropic'"):
            st.AnisotropicSGD(plain, "isotropic")
        with self.assertRaisesRegex(ValueError, "^closure"):
            optimizer.step(lambda: 0.0)
        with self.assertRaisesRegex(ValueError, "covariance"):
            st.AnisotropicSGD(plain, model, "fixed")

    def test_without_a_model(self):
        moved = []
        for named in (True, False):
            model = mlp()
            generator = torch.Generator().manual_seed(5)
            optimizer = st.AnisotropicSGD(torch.optim.SGD(model.parameters(), lr=0.1), model if named else None, covariance=2.0,
                                          generator=generator)
            optimizer.step()
            moved.append(vector(model))
        self.assertTrue(torch.equal(*moved))

    def test_covariance_in_the_layout_of_a_state_dict(self):
        model = mlp()
        covariance = {name: torch.full_like(p, 0.0 if "bias" in name else 1e-4) for name, p in model.named_parameters()}
        before = {name: p.clone() for name, p in model.state_dict().items()}
        optimizer = st.AnisotropicSGD(torch.optim.SGD(model.parameters(), lr=0.1), model, covariance=covariance)
        optimizer.step()
        for name, value in model.state_dict().items():
            self.assertEqual(bool((value == before[name]).all()), "bias" in name)
        with self.assertRaisesRegex(ValueError, "missing"):
            st.vector_of({"0.weight": covariance["0.weight"]}, model)


class Private(unittest.TestCase):
    def optimizer(self, model, records=60, **keys):
        keys = dict(dict(noise_multiplier=1.1, max_grad_norm=0.5, sample_rate=0.2), **keys)
        return st.PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model, loss, records=records, **keys)

    def test_a_record_moves_the_sum_by_the_clip_at_most(self):
        rng = np.random.default_rng(0)
        variances = {name: torch.tensor(rng.uniform(0.5, 2.0, p.shape)) for name, p in mlp().named_parameters()}
        for metric in ("isotropic", "per_layer", variances):
            for seed in range(20):
                model, (x, y) = mlp(seed), data(12, seed=seed)
                x = x * 10.0 ** rng.uniform(-3, 3)
                optimizer = self.optimizer(model, metric=metric)
                difference = (optimizer._clipped_sum(x, y) - optimizer._clipped_sum(x[1:], y[1:])).double()
                if isinstance(metric, dict):
                    shape = st.vector_of(variances, model)
                    difference = difference / (shape / shape.mean()).sqrt()
                    self.assertLessEqual(float(difference.norm()), 0.5)
                elif metric == "per_layer":
                    for part in difference.split([sum(p.numel() for p in layer.parameters()) for layer in (model[0], model[2])]):
                        self.assertLessEqual(float(part.norm()), 0.5 / 2**0.5)
                else:
                    self.assertLessEqual(float(difference.norm()), 0.5)

    def test_guarantee_is_that_of_the_accountant(self):
        for metric in ("isotropic", "per_layer"):
            model, dataset = mlp(), data(60)
            optimizer = self.optimizer(model, metric=metric)
            for batch in optimizer.batches(dataset, steps=30):
                optimizer.step(*batch)
            guarantee = optimizer.guarantee(1e-5)
            expected = sfumato.epsilon(noise_multiplier=1.1, sample_rate=0.2, steps=30, delta=1e-5)
            self.assertAlmostEqual(guarantee.epsilon.value, expected.value, places=9)
            self.assertGreaterEqual(guarantee.epsilon.value, expected.value * (1 - 1e-12))
            self.assertEqual(len(str(guarantee).splitlines()), 3)
            self.assertIn("zero_out", str(guarantee))

    def test_empty_batches_noise_and_state(self):
        model = mlp()
        optimizer = self.optimizer(model, sample_rate=0.01)
        before = vector(model)
        optimizer._waiting.append(st.private._Drawn((torch.zeros(0, 4), torch.zeros(0, dtype=torch.long))))
        optimizer.step(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long))
        self.assertGreater(float((vector(model) - before).norm()), 0.0)
        other = self.optimizer(mlp(), sample_rate=0.01)
        other.load_state_dict(optimizer.state_dict())
        self.assertEqual(other.guarantee(1e-5).epsilon, optimizer.guarantee(1e-5).epsilon)

    def test_records_that_are_not_finite(self):
        model, (x, y) = mlp(), data(5)
        x[2] = float("nan")
        optimizer = self.optimizer(model, records=5, sample_rate=1.0)
        take(optimizer, (x, y))
        self.assertNotIn("not_finite", str(optimizer.state_dict()))
        self.assertTrue(torch.isfinite(vector(model)).all())

    def test_refusals(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
        with self.assertRaisesRegex(ValueError, "BatchNorm1d mixes"):
            self.optimizer(model)
        for keys in (dict(noise_multiplier=0), dict(max_grad_norm=-1), dict(sample_rate=0), dict(metric="diagonal")):
            with self.assertRaisesRegex(ValueError, f"^{next(iter(keys))}: "):
                self.optimizer(mlp(), **keys)
        with self.assertRaisesRegex(ValueError, "^dataset: has 7"):
            next(self.optimizer(mlp()).batches(data(7), 1))

    def test_learns(self):
        model, dataset = mlp(), data(600)
        optimizer = st.PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=2.0), model, loss, noise_multiplier=1.0,
                                        max_grad_norm=1.0, sample_rate=0.2, records=600,
                                        seed=0)
        for batch in optimizer.batches(dataset, 60):
            optimizer.step(*batch)
        accuracy = float((model(dataset[0]).argmax(dim=1) == dataset[1]).float().mean())
        self.assertGreater(accuracy, 0.8)


class Files(unittest.TestCase):
    def test_parameters_of_sfumato_train(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            study = sfumato.Study.from_toml(SOURCE / "examples/train/quick.toml").set(**{"train.iterations": 2})
            study.train(folder / "run")
            file = sorted((folder / "run").glob("*.d.npz"))[0]
            state = st.load_parameters(file)
            self.assertTrue(all(torch.is_tensor(value) for value in state.values()))
            st.save_parameters(state, folder / "again.npz")
            for name, value in st.load_parameters(folder / "again.npz").items():
                self.assertTrue(torch.equal(value, state[name]))
            before = (folder / "again.npz").read_bytes()
            with self.assertRaisesRegex(FileExistsError, "again.npz exists"):
                st.save_parameters({"w": torch.zeros(1)}, folder / "again.npz")
            self.assertEqual((folder / "again.npz").read_bytes(), before)
            st.save_parameters({"w": torch.ones(1)}, folder / "again.npz", force=True)
            self.assertEqual(st.load_parameters(folder / "again.npz")["w"], 1)


if __name__ == "__main__":
    unittest.main()
