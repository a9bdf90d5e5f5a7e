"""Ways to make PrivateOptimizer say what is not true: each is refused, or changes what it says."""

import copy
import math
import os
import pickle
import tempfile

import sfumato
import sfumato.torch as st
from sfumato.torch.metrics import Metric, Noise
from support import data, loss, mlp, take, torch, unittest


class Attacks(unittest.TestCase):
    def setUp(self):
        self.data = data(60)

    def optimizer(self, model=None, inner=None, **keys):
        model = mlp() if model is None else model
        keys = dict(dict(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, records=60), **keys)
        return st.PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.1) if inner is None else inner, model, loss, **keys)

    def test_a_batch_steps_once(self):
        optimizer = self.optimizer()
        with self.assertRaisesRegex(RuntimeError, "^step: no batch was drawn"):
            for x, y in optimizer.batches(self.data, 1):
                for _ in range(100):
                    optimizer.step(x, y)
        self.assertEqual((optimizer.steps, len(optimizer._waiting)), (1, 0))
        with self.assertRaisesRegex(RuntimeError, "^step: no batch was drawn"):
            optimizer.step(*self.data)

    def test_batches_that_are_left_out(self):
        optimizer = self.optimizer()
        with self.assertRaisesRegex(RuntimeError, "^batches: the batch before"):
            for _ in optimizer.batches(self.data, 2):
                continue
        optimizer = self.optimizer()
        for x, y in optimizer.batches(self.data, 5):
            break
        with self.assertRaisesRegex(RuntimeError, "^step: no batch was drawn"):
            optimizer.step(x, y)

    def test_other_records(self):
        optimizer = self.optimizer()
        for x, y in optimizer.batches(self.data, 1):
            with self.assertRaisesRegex(ValueError, "^step: the batch has another number"):
                optimizer.step(torch.cat([x, x]), torch.cat([y, y]))
        def centred(x, y):  # PyTorch does not see what NumPy changes
            values = x.numpy()
            values -= values.mean(axis=0)
            return x, y

        def unseen(x, y):
            x.data.copy_(2 * x)
            return x, y

        same = (lambda x, y: (x.clone(), y.to("cpu", copy=True)), lambda x, y: (x.t().contiguous().t(), y))
        other = (lambda x, y: (x.set_(self.data[0].flip(0).clone()), y), lambda x, y: (x.mul_(2), y), lambda x, y: (x, (y + 1) % 3), centred, unseen,
                 lambda x, y: (x.flip(0), y), lambda x, y: (x.double().float() + 1e-3, y))
        for changes, known in ((same, True), (other, False)):
            for change in changes:
                optimizer = self.optimizer(sample_rate=1.0)
                for x, y in optimizer.batches(self.data, 1):
                    optimizer.step(*change(x, y))
                self.assertEqual(any("values of some were not" in text for text in optimizer.guarantee(1e-5).conditions), not known)
        bad = (self.data[0].clone().fill_(math.nan), self.data[1])
        optimizer = self.optimizer()
        take(optimizer, bad)
        self.assertFalse(any("values of some" in text for text in optimizer.guarantee(1e-5).conditions))

    def left_out(self, optimizer):
        return any("left out for reasons" in text for text in optimizer.guarantee(1e-5).conditions)

    def test_batches_that_were_drawn_and_left_out_are_a_condition(self):
        optimizer = self.optimizer()
        for x, y in optimizer.batches(self.data, 5):
            optimizer.step(x, y)
            break  # early stopping after a step
        self.assertFalse(self.left_out(optimizer))
        self.assertFalse(self.left_out(pickle.loads(pickle.dumps(optimizer))))
        for _ in optimizer.batches(self.data, 5):  # a batch that somebody did not like
            break
        self.assertTrue(self.left_out(optimizer))
        fresh = self.optimizer()
        fresh.load_state_dict(optimizer.state_dict())
        self.assertTrue(self.left_out(fresh))
        optimizer = self.optimizer()  # a step that fails for the size of its batch, as memory does
        for x, y in optimizer.batches(self.data, 2):
            with self.assertRaises(ValueError):
                optimizer.step(torch.cat([x, x]), torch.cat([y, y]))
        self.assertTrue(self.left_out(optimizer))
        optimizer = self.optimizer()
        for _ in optimizer.batches(self.data, 1):
            optimizer.load_state_dict(optimizer.state_dict())
        self.assertTrue(self.left_out(optimizer))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_batch_of_another_process(self):
        """Each process would account for one step on it, and both release."""
        optimizer = self.optimizer()
        for x, y in optimizer.batches(self.data, 1):
            child = os.fork()
            if child == 0:
                try:
                    optimizer.step(x, y)
                except RuntimeError as error:
                    os._exit(7 if "another process" in str(error) else 1)
                os._exit(0)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            optimizer.step(x, y)

    def test_an_honest_run_on_another_device_or_scale(self):
        plain = self.optimizer()
        take(plain, self.data, 3)
        pixels = ((self.data[0] * 20 + 128).clamp(0, 255).to(torch.uint8), self.data[1])
        own = self.optimizer()
        for x, y in own.batches(pixels, 3):
            own.step(x.float() / 255, y.to("cpu"))
        made = self.optimizer()
        take(made, pixels, 3, transform=lambda x: x.float() / 255, device="cpu")
        for optimizer, given in ((plain, False), (own, True), (made, False)):
            guarantee = optimizer.guarantee(1e-5)
            self.assertEqual(guarantee.epsilon.value, plain.guarantee(1e-5).epsilon.value)
            self.assertEqual(any("values of some" in text for text in guarantee.conditions), given)
        rare = self.optimizer(sample_rate=1e-9)
        take(rare, pixels, 2, transform=lambda x: x.float() / 255)  # empty batches

    def test_data_that_are_no_pairs_of_tensors(self):
        x, y = self.data
        for dataset, words in (((x, y[:40]), "has 40 records"), ((x[:40], y[:40]), "has 40 records"), ((x, y, y), "is not"), ((x.numpy(), y.numpy()), "is not")):
            with self.assertRaisesRegex(ValueError, f"^dataset: {words}"):
                take(self.optimizer(), dataset)

    def test_sums_are_exact(self):
        """However many rows there are, one more moves the sum by its own row, which is no longer than the clip."""
        generator = torch.Generator().manual_seed(0)
        for count in (1000, 10**5, 10**6):
            for rows in (torch.ones(count, 1), 3 * torch.randn(count, 1, generator=generator), 0.7 + 0.1 * torch.rand(count, 1, generator=generator)):
                metric = Metric(1.0, 1.0)
                whole = metric.clipped(rows, count)
                for without in (rows[1:], rows[:-1], torch.cat([rows[: count // 3], rows[count // 3 + 1 :]])):
                    self.assertLessEqual(float((whole - metric.clipped(without, count)).norm()), 1.0)
                self.assertTrue(torch.equal(whole, metric.clipped(rows[torch.randperm(count, generator=generator)], count)))
        rows = torch.randn(4096, 50, generator=generator)
        for metric in (Metric(1.0, 0.3), st.metrics.Whitened(1.0, 0.3, torch.rand(50, generator=generator, dtype=torch.float64) + 0.1)):
            difference = metric.clipped(rows, 4096) - metric.clipped(rows[1:], 4096)
            root = getattr(metric, "root", 1.0)
            self.assertLessEqual(float((difference / root).norm()), 0.3)
            self.assertGreater(float((difference / root).norm()), 0.29)

    def test_grids_are_powers_of_two_at_every_size(self):
        for clip in (1e-100, 1e-40, 0.3, 1.0, 1e40, 1e100):
            for dtype in (torch.float32, torch.float16):  # of new tensors, not of these
                torch.set_default_dtype(dtype)
                try:
                    rows = torch.tensor([[0.6, 0.8], [3.0, -4.0], [1e-9, 0.0]], dtype=torch.float64) * clip
                    whole, part = Metric(1.0, clip).clipped(rows, 100), Metric(1.0, clip).clipped(rows[1:], 100)
                finally:
                    torch.set_default_dtype(torch.float32)
                self.assertTrue(torch.isfinite(whole).all())
                self.assertLessEqual(float((whole - part).norm()), clip)
                self.assertGreater(float((whole - part).norm()), 0.999 * clip)

    def test_variances_out_of_range(self):
        for value in (1e308, 1e-320, math.inf, math.nan, 0.0, -1.0):
            model = mlp()
            with self.assertRaisesRegex(ValueError, "^metric: "):
                self.optimizer(model, metric=[value] * sum(p.numel() for p in model.parameters()))

    def test_the_rate_is_not_above_what_is_accounted(self):
        draws = 2 * 10**8
        chosen = len(Noise().batch(draws, 6.1e-8))  # 12.2 expected; torch.rand of float32 has 23.8
        self.assertLess(chosen, 31)  # false alarm: P(Poisson(12.2) >= 31) = 4e-6
        chosen = len(Noise().batch(10**7, 0.3))
        self.assertLess(abs(chosen - 3e6), 6 * math.sqrt(10**7 * 0.21))  # 2e-9
        self.assertEqual(len(Noise().batch(1000, 1.0)), 1000)
        self.assertEqual(len(Noise().batch(10**6, 2.0**-70)), 0)

    def test_global_seeds_do_not_reach_the_noise(self):
        ends = []
        for seed in (None, None, 7, 7):
            torch.manual_seed(0)
            model = mlp()
            optimizer = self.optimizer(model, seed=seed)
            torch.manual_seed(0)
            take(optimizer, self.data, 2)
            ends.append(torch.cat([p.detach().reshape(-1) for p in model.parameters()]))
            self.assertEqual(optimizer.guarantee(1e-5) is None, seed is not None)
            self.assertEqual(optimizer.why_no_guarantee is None, seed is None)
        self.assertFalse(torch.equal(ends[0], ends[1]))
        self.assertTrue(torch.equal(ends[2], ends[3]))
        unseeded = self.optimizer(mlp())
        unseeded.load_state_dict(optimizer.state_dict())
        self.assertIsNone(unseeded.guarantee(1e-5))

    def test_parameters_that_are_not_trained(self):
        model, extra = mlp(), torch.nn.Linear(2, 2)
        with self.assertRaisesRegex(ValueError, "^optimizer: has a parameter that is not the model's"):
            self.optimizer(model, torch.optim.SGD([*model.parameters(), *extra.parameters()], lr=1.0))
        optimizer = self.optimizer(model)
        optimizer.optimizer.add_param_group({"params": list(extra.parameters())})
        with self.assertRaisesRegex(ValueError, "^optimizer: has a parameter"):
            take(optimizer, self.data)
        model = mlp()
        loss(model(self.data[0]), self.data[1]).backward()
        model[0].weight.requires_grad_(False)
        before = model[0].weight.clone()
        optimizer = self.optimizer(model)
        take(optimizer, self.data)
        self.assertTrue(torch.equal(model[0].weight, before))
        model[0].weight.requires_grad_(True)
        with self.assertRaisesRegex(ValueError, "^model: other parameters"):
            take(optimizer, self.data)

    def test_an_account_is_not_forgotten(self):
        optimizer = self.optimizer()
        early = optimizer.state_dict()
        take(optimizer, self.data, 5)
        late, spent = optimizer.state_dict(), optimizer.guarantee(1e-5).epsilon.value
        optimizer.load_state_dict(early)
        self.assertEqual(optimizer.guarantee(1e-5).epsilon.value, spent)
        with self.assertRaisesRegex(ValueError, "does not forget"):
            optimizer.accountant.load_state_dict(early["accountant"])
        fresh = self.optimizer()
        fresh.load_state_dict(late)
        self.assertEqual(fresh.guarantee(1e-5).epsilon.value, spent)
        moments = self.optimizer(metric="input", inputs=self.data[0], metric_mu=0.5)
        early = moments.state_dict()
        take(moments, self.data)
        spent = moments.guarantee(1e-5).epsilon.value
        moments.load_state_dict(early)  # the second moments were released, and are used
        take(moments, self.data)
        self.assertEqual(len(moments.accountant.history), 2)
        self.assertGreater(moments.guarantee(1e-5).epsilon.value, spent)
        other = self.optimizer(noise_multiplier=2.0)
        take(other, self.data)
        with self.assertRaisesRegex(ValueError, "is of another run"):
            other.load_state_dict(late)
        twin = self.optimizer()  # as many steps, of another run: together they are twice as many
        take(twin, self.data, 5)
        with self.assertRaisesRegex(ValueError, "is of another run"):
            twin.load_state_dict(late)

    def test_a_given_account_is_not_forgotten(self):
        first, second = self.optimizer(), self.optimizer()
        take(first, self.data, 5)
        take(second, self.data, 5)
        third = self.optimizer(accountant=first.accountant)
        for state in (second.state_dict(), {**second.state_dict(), "steps": 0}):
            with self.assertRaisesRegex(ValueError, "is of another run"):
                third.load_state_dict(state)
        self.assertIn("5 steps", first.accountant.history[0])

    def test_neighbours_do_not_change_on_the_way(self):
        for adjacency in ("replace_one", "zero_out"):
            optimizer = self.optimizer(adjacency=adjacency)
            optimizer.accountant.load_state_dict({"history": []})
            with self.assertRaisesRegex(ValueError, "^accountant: is for add_remove"):
                take(optimizer, self.data)
            with self.assertRaisesRegex(ValueError, "^accountant: is for add_remove"):
                optimizer.guarantee(1e-5)

    def test_a_draw_that_fails_leaves_a_condition(self):
        optimizer = self.optimizer()

        def fails(row):
            raise MemoryError("a large batch")

        with self.assertRaises(MemoryError):
            for _ in range(50):
                next(iter(optimizer.batches(self.data, 1, transform=fails)))
        self.assertTrue(any("left out" in condition for condition in optimizer.accountant.conditions))

    def successor(self, optimizer, **keys):
        """Another optimiser that goes on with the account of this one."""
        return self.optimizer(optimizer.model, optimizer.optimizer, accountant=optimizer.accountant, **keys)

    def test_what_an_account_rests_on_goes_with_it(self):
        foreign = self.optimizer(sample_rate=1.0)
        for x, y in foreign.batches(self.data, 3):
            foreign.step(x[:1].expand(len(x), -1) * 5, y[:1].expand(len(y)))
        for other in (self.successor(foreign, sample_rate=1.0), copy.copy(foreign)):
            self.assertTrue(any("values of some were not" in text for text in other.guarantee(1e-5).conditions))
        shared = copy.copy(self.optimizer(sample_rate=1.0))
        twin = copy.copy(shared)
        for x, y in twin.batches(self.data, 1):
            twin.step(2 * x, y)
        self.assertTrue(any("values of some were not" in text for text in shared.guarantee(1e-5).conditions))
        seeded = self.optimizer(seed=1)
        take(seeded, self.data, 2)
        after = self.successor(seeded)
        take(after, self.data)
        self.assertIsNone(after.guarantee(1e-5))
        self.assertIn("seed", after.why_no_guarantee)
        account = pickle.loads(pickle.dumps(after.accountant))
        for ask in (lambda: account.get_epsilon(1e-5), account.advantage, lambda: account.statement(1e-5), lambda: account.epsilon(1e-5),
                    lambda: account.save(os.devnull)):
            with self.assertRaisesRegex(ValueError, "^there is no guarantee: the noise came from a seed"):
                ask()
        variances = self.optimizer(metric=torch.rand(sum(p.numel() for p in mlp().parameters())) + 0.5)
        take(variances, self.data)
        for said in (self.successor(variances).guarantee(1e-5).conditions, variances.accountant.get_epsilon(1e-5).assumptions):
            self.assertTrue(any("variances of the metric" in text for text in said), said)

    def test_what_an_account_rests_on_is_in_its_file(self):
        optimizer = self.optimizer()
        take(optimizer, self.data)
        optimizer.accountant.require("two\nlines")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "account.toml")
            optimizer.accountant.save(path)
            loaded = sfumato.Accountant.load(path)
        self.assertEqual(loaded.conditions, optimizer.accountant.conditions)
        self.assertIn("two lines", loaded.conditions)
        self.assertIn("- two lines\n", loaded.statement(1e-5))

    def test_adjacency(self):
        with self.assertRaisesRegex(ValueError, "^adjacency: 'add_remove'"):
            self.optimizer(adjacency="add_remove")
        with self.assertRaisesRegex(ValueError, "^adjacency: 'add_remove'"):
            self.optimizer(accountant=sfumato.Accountant())
        found = {}
        for adjacency in ("zero_out", "replace_one"):
            optimizer = self.optimizer(adjacency=adjacency)
            take(optimizer, self.data)
            found[adjacency] = optimizer.guarantee(1e-5).epsilon.value
            self.assertEqual(found[adjacency], sfumato.epsilon(1.0, sample_rate=0.5, adjacency=adjacency, delta=1e-5).value)
        self.assertGreater(found["replace_one"], found["zero_out"])

    def test_copies_and_settings(self):
        optimizer = self.optimizer()
        for x, y in optimizer.batches(self.data, 1):
            for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
                with self.assertRaisesRegex(RuntimeError, "^step: no batch was drawn"):
                    twin.step(x, y)
            optimizer.step(x, y)
        self.assertEqual(copy.deepcopy(optimizer).guarantee(1e-5).epsilon.value, optimizer.guarantee(1e-5).epsilon.value)
        for name in ("noise_multiplier", "sample_rate", "max_grad_norm", "records", "accountant"):
            with self.assertRaises(AttributeError):
                setattr(optimizer, name, 1)

    def test_numbers_have_their_assumptions(self):
        guarantee = self.optimizer().guarantee(1e-5)
        self.assertTrue(set(guarantee.conditions) <= set(guarantee.epsilon.assumptions))
        for epsilon in (sfumato.epsilon(1.0, sample_rate=0.1, steps=5, delta=1e-5), sfumato.Accountant().get_epsilon(1e-5)):
            self.assertTrue(any(text.startswith("add_remove") for text in epsilon.assumptions))


if __name__ == "__main__":
    unittest.main()
