"""PrivateOptimizer in every metric beside the engine of `sfumato train`: the same records, weights and clips make the same steps."""

import os
import pathlib
import subprocess
import tempfile
from collections import OrderedDict
from unittest import mock

import numpy as np

import sfumato
import sfumato.torch as st
from support import SOURCE, loss, take, torch, unittest

PROGRAM = os.environ.get("SFUMATO", str(SOURCE / "build" / "bin" / "sfumato"))
RECORDS, INPUTS, CLASSES = 40, 5, 3
MU = 1e5  # hardly any noise on the second moments
NOISE = 1e-6


def network():
    fc1, fc2 = torch.nn.Linear(INPUTS, 6), torch.nn.Linear(6, CLASSES)
    return torch.nn.Sequential(OrderedDict(fc1=fc1, tanh=torch.nn.Tanh(), fc2=fc2))


class Engine(unittest.TestCase):
    """Noise is next to nothing here, so that the steps are those of the clipped gradients alone."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        rng = np.random.default_rng(4)
        cls.x = rng.normal(size=(RECORDS, INPUTS)) * [3.0, 1.0, 0.3, 1.0, 2.0]
        cls.x[7] *= 20.0  # longer than the bound of the inputs
        cls.y = rng.integers(0, CLASSES, RECORDS)
        names = [f"x{i}" for i in range(INPUTS)] + ["label"]
        np.savetxt(root / "table.csv", np.column_stack([cls.x, cls.y]), delimiter=",", header=",".join(names), comments="", fmt="%.9g")
        cls.variances = rng.uniform(0.3, 3.0, INPUTS * 6 + 6 + 6 * CLASSES + CLASSES)
        cls.factor = rng.normal(size=(len(cls.variances), 2))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def engine(self, metric, steps, rate, keys=""):
        """Parameters of D after so many steps of full batches."""
        root = pathlib.Path(self.folder.name)
        (root / "study.toml").write_text(f"""
            [data]
            set = "{root}/table.csv"
            records = {RECORDS}
            classes = {CLASSES}
            standardise = "none"
            [adjacency]
            kind = "remove"
            [[model.layers]]
            type = "linear"
            outputs = 6
            [[model.layers]]
            type = "tanh"
            [[model.layers]]
            type = "linear"
            outputs = {CLASSES}
            [train]
            sampler = "full"
            iterations = {steps}
            learning_rate = {rate}
            clip = 0.5
            noise_multiplier = {NOISE}
            seed = 3
            [[noise]]
            policy = "private"
            metric = "{metric}"
            {keys}
            """)
        out = root / f"{metric}-{steps}-{rate}-{len(keys)}"
        if metric != "input":
            sfumato.Study.from_toml(root / "study.toml").train(out, force=True)
            return st.load_parameters(next(out.glob("*.d.npz")))
        done = subprocess.run([PROGRAM, "train", root / "study.toml", "--private", "--seed", "3", "--out", out, "--force"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return st.load_parameters(out / "model.npz")

    def compare(self, name, metric, keys="", steps=25, tolerance=2e-5, **more):
        start, end = self.engine(name, 1, 1e-30, keys), self.engine(name, steps, 0.3, keys)
        model = network()
        model.load_state_dict(start)
        optimizer = st.PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.3), model, loss, noise_multiplier=NOISE, max_grad_norm=0.5,
                                        sample_rate=1.0, records=RECORDS, metric=metric, steps=steps, seed=1, **more)
        x, y = torch.tensor(self.x, dtype=torch.float32), torch.tensor(self.y)
        taken_off = (RECORDS * (RECORDS + 1) + 2 * RECORDS) * 2.0**-24  # the engine's clip, for sums in single precision (Spec §24.1)
        with mock.patch("sfumato.torch.metrics._MARGIN", taken_off):
            for batch in optimizer.batches((x, y), steps):
                optimizer.step(*batch)
        moved = max(float((end[key] - start[key]).abs().max()) for key in start)
        for key, value in model.state_dict().items():
            self.assertLess(float((value - end[key]).abs().max()), tolerance * max(1.0, moved), f"{name} {key}")
        self.assertGreater(moved, 0.1)
        return optimizer, end

    def test_isotropic(self):
        _, isotropic = self.compare("isotropic", "isotropic")
        _, other = self.compare("per_layer", "per_layer")
        self.assertGreater(float((isotropic["fc1.weight"] - other["fc1.weight"]).abs().max()), 1e-3)  # the metric matters

    def test_per_layer(self):
        self.compare("per_layer", "per_layer", "layer_clips = [0.4, 0.1]", layer_clips=[0.4, 0.1])

    def covariance(self, **parts):
        """In the order of the network's own parameters: weights by input, then biases, layer by layer."""
        def engine_order(values):
            result, at = [], 0
            for outputs, inputs in ((6, INPUTS), (CLASSES, 6)):
                size = outputs * inputs
                result.append(values[at : at + size].reshape(outputs, inputs, *values.shape[1:]).swapaxes(0, 1).reshape(size, *values.shape[1:]))
                result.append(values[at + size : at + size + outputs])
                at += size + outputs
            return np.concatenate(result)

        path = pathlib.Path(self.folder.name) / f"{'-'.join(parts)}.npz"
        np.savez(path, **{name: engine_order(part) for name, part in parts.items()})
        return f'covariance = "{path}"'

    def test_whitened(self):
        self.compare("whitened", self.variances, self.covariance(variances=self.variances), tolerance=1e-3)

    def test_low_rank(self):
        keys = self.covariance(diagonal=self.variances, factor=self.factor)
        self.compare("low_rank", {"diagonal": self.variances, "factor": self.factor}, keys, tolerance=1e-3)

    def test_released(self):
        self.compare("released", "released", steps=30, tolerance=1e-3)

    def test_input(self):
        optimizer, _ = self.compare("input", "input", f"metric_mu = {MU}", tolerance=1e-2, inputs=torch.tensor(self.x), metric_mu=MU)
        self.assertEqual(len(optimizer.accountant.history), 2)


class Metrics(unittest.TestCase):
    """What a guarantee rests on."""

    def setUp(self):
        torch.manual_seed(0)
        self.model = network()
        self.x, self.y = torch.randn(30, INPUTS), torch.arange(30) % CLASSES
        rng = np.random.default_rng(0)
        size = INPUTS * 6 + 6 + 6 * CLASSES + CLASSES
        self.low_rank = {"diagonal": rng.uniform(0.5, 2.0, size), "factor": rng.normal(size=(size, 2))}

    def optimizer(self, metric, **keys):
        keys = dict(dict(noise_multiplier=1.0, max_grad_norm=0.5, sample_rate=0.3, records=30), **keys)
        return st.PrivateOptimizer(torch.optim.SGD(self.model.parameters(), lr=0.1), self.model, loss, metric=metric, **keys)

    def all(self):
        yield self.optimizer("isotropic")
        yield self.optimizer("per_layer")
        yield self.optimizer(self.low_rank["diagonal"])
        yield self.optimizer(self.low_rank)
        yield self.optimizer("released")
        yield self.optimizer("input", inputs=self.x, metric_mu=0.5)

    def test_noise_and_clip_are_those_that_are_accounted_for(self):
        """In deviations of the noise a record moves the sum by 1 / noise_multiplier at most; some come near."""
        for optimizer in self.all():
            take(optimizer, (self.x, self.y))
            metric = optimizer._metric
            noise = torch.stack([metric.noise(len(self.low_rank["diagonal"]), optimizer._noise) for _ in range(20_000)])
            covariance = noise.T @ noise / len(noise)
            inverse = torch.linalg.inv(covariance)
            longest = 0.0
            for scale in (1e-3, 1.0, 1e3, 1e30):
                for i in range(len(self.x)):
                    difference = (optimizer._clipped_sum(scale * self.x, self.y)
                                  - optimizer._clipped_sum(scale * self.x[torch.arange(30) != i], self.y[torch.arange(30) != i])).double()
                    self.assertTrue(torch.isfinite(difference).all())
                    longest = max(longest, float(difference @ inverse @ difference) ** 0.5)
            # The covariance of 20,000 draws in 57 dimensions is off by sqrt(57 / 20,000) = 5 %, its inverse by 10 % in the worst direction.
            self.assertLess(longest, 1.15, type(metric).__name__)
            self.assertGreater(longest, 0.3, type(metric).__name__)

    def test_guarantees(self):
        plain = sfumato.epsilon(1.0, sample_rate=0.3, steps=25, delta=1e-5).value
        for optimizer in self.all():
            for batch in optimizer.batches((self.x, self.y), 25):
                optimizer.step(*batch)
            guarantee = optimizer.guarantee(1e-5)
            name = type(optimizer._metric).__name__
            if name == "Input":
                both = sfumato.Accountant("zero_out")
                both.step(2.0)  # mu = 0.5
                both.step(1.0, 0.3, 25)
                self.assertAlmostEqual(guarantee.epsilon.value, both.get_epsilon(1e-5).value, delta=1e-6)
                self.assertIn("number of records", str(guarantee.conditions))
            else:
                self.assertAlmostEqual(guarantee.epsilon.value, plain, delta=1e-6, msg=name)
            self.assertGreaterEqual(guarantee.epsilon.value, plain * (1 - 1e-12))
            self.assertEqual("without the private data" in str(guarantee.conditions).replace("at the start were made without the private data", ""), name in ("Whitened", "Input"))

    def test_states(self):
        """A checkpoint goes on as if nothing had been, and releases no metric again."""
        for metric, keys in (("released", {}), ("input", dict(inputs=self.x, metric_mu=0.5))):
            ends = []
            for interrupted in (False, True):
                torch.manual_seed(0)
                self.model = network()
                optimizer = self.optimizer(metric, seed=2, **keys)
                for step in range(30):
                    if interrupted and step == 22:
                        state, optimizer_before = optimizer.state_dict(), optimizer
                        optimizer = self.optimizer(metric, seed=2, **keys)
                        drawn = optimizer_before._noise.drawn
                        optimizer.load_state_dict(state)
                        optimizer._noise.drawn = drawn
                    take(optimizer, (self.x, self.y))
                ends.append(torch.cat([p.detach().reshape(-1) for p in self.model.parameters()]))
                self.assertEqual(len(optimizer.accountant.history), 1 if metric == "released" else 2)
            self.assertTrue(torch.equal(*ends), metric)

    def test_released_moments(self):
        """The formula of the specification (23.3), in NumPy."""
        rng = np.random.default_rng(1)
        moments = sfumato._core.GradientMoments(4)
        v, noise, weight = np.zeros(4), np.zeros(4), 0.0
        for _ in range(7):
            gradient, variances = rng.normal(size=4), rng.uniform(0.1, 2.0, 4)
            moments.add(gradient, variances)
            v, noise, weight = 0.99 * v + 0.01 * gradient**2, 0.99 * noise + 0.01 * variances, 0.99 * weight + 0.01
        root = np.sqrt(np.maximum(v / weight - noise / weight, 0.1 * noise / weight))
        np.testing.assert_allclose(moments.shape(), root / root.mean(), rtol=1e-6)

    def test_input_whitens(self):
        optimizer = self.optimizer("input", inputs=self.x * torch.tensor([10.0, 1.0, 1.0, 1.0, 0.1]), metric_mu=1e6, input_bound=50.0)
        take(optimizer, (self.x, self.y))
        white = (self.x * torch.tensor([10.0, 1.0, 1.0, 1.0, 0.1])).double() @ optimizer._metric.root
        np.testing.assert_allclose(white.T @ white / 30, np.eye(INPUTS), atol=0.15)

    def test_refusals(self):
        convolution = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, CLASSES))
        for metric, keys, message in (
                ("input", {}, "^metric: 'input' needs the inputs"), ("input", dict(inputs=self.x, metric_mu=-1), "^metric_mu: -1"),
                ("input", dict(inputs=self.x[:5], metric_mu=1), "^inputs: 5 records"),
                ("input", dict(inputs=self.x, metric_mu=1, input_layer="fc2"), "^input_layer: 'fc2'"),
                ("isotropic", dict(metric_mu=1.0), "^metric_mu: means nothing"), ("isotropic", dict(layer_clips=[1]), "^layer_clips: means nothing"),
                ("per_layer", dict(layer_clips=[1]), "^layer_clips: 1 numbers for 2 layers: fc1, fc2"),
                ("whitened", {}, "^metric: give the variances"), ("diagonal", {}, "^metric: 'diagonal' is unknown"),
                (np.eye(57), {}, "^metric: a whole matrix"), (np.full(57, -1.0), {}, "^metric: a variance"),
                ({"diagonal": np.ones(57), "factor": np.ones((5, 2))}, {}, "^metric: its factor has shape")):
            with self.assertRaisesRegex(ValueError, message):
                self.optimizer(metric, **keys)
        self.model = convolution
        with self.assertRaisesRegex(ValueError, "reads the records themselves"):
            self.optimizer("input", inputs=torch.randn(30, 1, 4, 4), metric_mu=1)

    def test_half_precision(self):
        """Products of bfloat16 are off by more than the margin: sums are in float32."""
        self.model = network().bfloat16()
        optimizer = self.optimizer("isotropic")
        x = 100 * self.x.bfloat16()
        difference = optimizer._clipped_sum(x, self.y) - optimizer._clipped_sum(x[1:], self.y[1:])
        self.assertLessEqual(float(difference.norm()), 0.5)
        take(optimizer, (x, self.y))


if __name__ == "__main__":
    unittest.main()
