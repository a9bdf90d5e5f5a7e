import json
import os
import pathlib
import subprocess
import tempfile
from unittest import mock

import sfumato
import sfumato.torch as st
import trainings
from support import SOURCE, data, torch, unittest

PROGRAM = os.environ.get("SFUMATO", str(SOURCE / "build" / "bin" / "sfumato"))


class AuditTraining(unittest.TestCase):
    def test_unnoised_training_leaks(self):
        with tempfile.TemporaryDirectory() as folder:
            ledger = pathlib.Path(folder) / "scores.jsonl"
            calls = []

            def training(dataset, seed):
                calls.append(len(dataset[0]))
                if len(calls) == 11:
                    raise KeyboardInterrupt
                return trainings.overfitted(dataset, seed)

            arguments = dict(claim=(1, 1e-5), runs=40, ledger=ledger)
            with self.assertRaises(KeyboardInterrupt):
                st.audit_training(training, data(40), **arguments)
            answer = st.audit_training(training, data(40), **arguments)
            self.assertEqual(len(calls), 81)  # ten were kept
            self.assertEqual(set(calls), {40, 41})
            self.assertEqual(answer.verdict, "violated")
            self.assertGreater(answer.epsilon.value, 1.0)
            whole = st.audit_training(trainings.overfitted, data(40), claim=(1, 1e-5), runs=40)
            self.assertEqual(answer.in_scores.tolist(), whole.in_scores.tolist())
            again = sfumato.audit(answer.in_scores, answer.out_scores, claim=(1, 1e-5), adjacency="remove")
            self.assertEqual(again.to_dict()["results"], answer.to_dict()["results"])
            for name, scores in (("in", answer.in_scores), ("out", answer.out_scores)):
                (pathlib.Path(folder) / f"{name}.csv").write_text("score\n" + "\n".join(repr(score) for score in scores.tolist()) + "\n")
            program = subprocess.run([PROGRAM, "audit", "--members", f"{folder}/in.csv", "--nonmembers", f"{folder}/out.csv", "--unit", "models",
                                      "--claim", "eps=1.0,delta=1e-05", "--adjacency", "remove", "--json"], capture_output=True, text=True)
            self.assertEqual(program.returncode, 1)
            self.assertEqual(json.loads(program.stdout)["results"], answer.to_dict()["results"])
            self.assertEqual(st.audit_training(training, data(40), **arguments).in_scores.tolist(), whole.in_scores.tolist())
            self.assertEqual(len(calls), 81)  # nothing was trained again
            with self.assertRaisesRegex(ValueError, "another audit"):
                st.audit_training(training, data(40), score="margin", **arguments)
            with self.assertRaisesRegex(ValueError, "another audit"):
                st.audit_training(training, data(40, seed=2), **arguments)

    def test_scores_of_another_training_are_not_taken(self):
        def training_at(rate):
            return lambda dataset, seed: trainings.private(dataset, seed) if rate == 0 else trainings.overfitted(dataset, seed)

        with tempfile.TemporaryDirectory() as folder:
            ledger = pathlib.Path(folder) / "scores.jsonl"
            other = pathlib.Path(f"{ledger}.new")
            other.write_text("of somebody else")
            st.audit_training(training_at(0), data(40), ledger=ledger, plan_only=True)
            self.assertEqual(other.read_text(), "of somebody else")
            self.assertEqual(ledger.stat().st_mode & 0o777, 0o600)
            with self.assertRaisesRegex(ValueError, "another audit"):
                st.audit_training(training_at(1), data(40), ledger=ledger, plan_only=True)
            st.audit_training(training_at(0), data(40), ledger=ledger, plan_only=True)

    def test_the_noise_of_the_private_training(self):
        proven = sfumato.epsilon(trainings.NOISE, sample_rate=trainings.RATE, steps=trainings.STEPS, delta=trainings.DELTA)
        self.assertLess(proven.value, trainings.EPSILON)
        self.assertGreater(proven.value, 0.9 * trainings.EPSILON)

    def test_private_training_is_not_refuted(self):
        answer = st.audit_training(trainings.private, data(40), claim=(trainings.EPSILON, trainings.DELTA), runs=60, workers=2)
        self.assertEqual(answer.verdict, "not_refuted")
        self.assertLessEqual(answer.epsilon.value, trainings.EPSILON)

    def test_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            ledger = pathlib.Path(folder) / "scores.jsonl"
            plan = st.audit_training(trainings.private, data(40), ledger=ledger, plan_only=True, workers=2)
            self.assertEqual(plan.get("runs_needed", thresholds="combined"), 124)
            self.assertEqual((plan.verdict, plan.needed, plan.expected, plan.runs), ("none", 124, 1245, 1245))
            self.assertAlmostEqual(plan.seconds, plan.seconds_per_model * (2 * 1245 - 2) / 2)
            self.assertRegex(str(plan), r"Training: 2 x 1245 models \(enough for a TPR of 50 % .* at most 5\..*\); .* each, about .* from here on\.")
            self.assertEqual(len(ledger.read_text().splitlines()), 3)  # two models were trained, and are kept
        self.assertIn("too few for a TPR of 50 %", str(st.audit_training(trainings.private, data(40), runs=155, plan_only=True)))
        self.assertIn("too few", str(st.audit_training(trainings.private, data(40), runs=5, plan_only=True)))

    def test_processes(self):
        """Processes give the scores of one, and what they raise comes through."""
        keys = dict(claim=(1, 1e-5), runs=4)
        one = st.audit_training(trainings.private, data(40), **keys)
        two = st.audit_training(trainings.private, data(40), workers=2, **keys)
        self.assertEqual(one.in_scores.tolist(), two.in_scores.tolist())
        self.assertEqual(one.out_scores.tolist(), two.out_scores.tolist())
        with self.assertRaisesRegex(ArithmeticError, "of the caller"):
            st.audit_training(trainings.fails_in_another_process, data(40), workers=2, **keys)

    def test_canaries(self):
        dataset = torch.utils.data.TensorDataset(*data(20))
        seen = []

        def training(records):
            seen.append(len(records))
            return trainings.mlp(len(seen))

        answer = st.audit_training(training, dataset, claim=(1, 1e-5), runs=3)
        self.assertEqual(sorted(set(seen)), [20, 21])
        self.assertNotEqual(answer.canary[1], None)
        answer = st.audit_training(training, dataset, claim=(1, 1e-5), runs=3, canary=lambda records: (torch.ones(4), 2),
                                   score=lambda model, record: float(model(record[0].unsqueeze(0)).sum()))
        self.assertEqual(answer.canary[1], 2)
        with self.assertRaisesRegex(ValueError, "canary"):
            st.audit_training(training, dataset, runs=3, canary="mislabeled")


class Planned(unittest.TestCase):
    def test_the_planned_number_is_enough_for_the_attack_that_it_names(self):
        """Scores with a TPR of 50 % at an FPR of 1 %, continuous or of two values."""
        import numpy as np

        runs = st.auditing._runs_of_a_good_attack(sfumato.plan_audit((3, 1e-5)))
        self.assertEqual(runs, 1245)
        rng = np.random.default_rng(1)

        def refuted(scores, audits=30):
            return sum(sfumato.audit(scores(0.5), scores(0.01), claim=(3, 1e-5)).verdict == "violated" for _ in range(audits)) / audits

        self.assertGreater(refuted(lambda rate: rng.normal(2.3263 if rate == 0.5 else 0.0, 1.0, runs)), 0.9)
        self.assertGreater(refuted(lambda rate: (rng.random(runs) < rate) + 1e-3 * rng.random(runs)), 0.45)  # the seed is fixed; 2/3 in the long run


class Opacus(unittest.TestCase):
    def test_accountants_and_audit_agree(self):
        try:
            import opacus
        except ImportError:
            self.skipTest("opacus is not installed")
        import warnings

        def training(dataset, seed, engines=None, poisson=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.manual_seed(seed)
                model = trainings.mlp(0, hidden=8)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
                loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*dataset), batch_size=10)
                engine = opacus.PrivacyEngine(accountant="rdp")
                model, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, data_loader=loader,
                                                               noise_multiplier=2.0, max_grad_norm=1.0, poisson_sampling=poisson)
                for _ in range(3):
                    for x, y in loader:
                        optimizer.zero_grad()
                        trainings.loss(model(x), y).backward()
                        optimizer.step()
                if engines is not None:
                    engines.append((engine, loader))
                return model._module

        engines = []
        training(data(40), 0, engines)
        engine, loader = engines[0]
        both = st.compare_with_opacus(engine, 1e-5, loader)
        self.assertTrue(any("samples every record independently" in text for text in both.proven.assumptions))
        with self.assertRaisesRegex(ValueError, "^loader: is missing"):
            st.compare_with_opacus(engine, delta=1e-5)
        training(data(40), 0, engines, poisson=False)
        with self.assertRaisesRegex(ValueError, "^loader: does not draw Poisson"):
            st.compare_with_opacus(engines[1][0], 1e-5, engines[1][1])
        self.assertTrue(both.opacus_is_safe)
        self.assertLessEqual(both.proven.value, both.opacus)  # a tighter bound of the same thing
        noise, rate, steps = engine.accountant.history[0]
        self.assertEqual(both.proven.value, sfumato.epsilon(noise, sample_rate=rate, steps=steps, delta=1e-5).value)
        self.refused_loaders(engine, loader)
        answer = st.audit_training(training, data(40), claim=(both.proven.value, 1e-5), runs=12)
        self.assertIn(answer.verdict, ("open", "not_refuted"))
        self.assertLess(answer.epsilon.value, both.proven.value)


    def refused_loaders(self, engine, loader):
        """What a loader draws is known of Opacus's own sampler alone, and is drawn with 24 bits."""
        from types import SimpleNamespace

        from opacus.utils.batch_memory_manager import BatchSplittingSampler
        from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler, UniformWithReplacementSampler
        from torch.utils.data import DataLoader

        class Twice(UniformWithReplacementSampler):
            def __iter__(self):
                return (batch * 2 for batch in super().__iter__())

        def compare(sampler, engine=engine):
            return st.compare_with_opacus(engine, 1e-5, SimpleNamespace(batch_sampler=sampler))

        with self.assertRaisesRegex(ValueError, "^loader: its sampler Twice is not Opacus's own"):
            compare(Twice(num_samples=40, sample_rate=0.25))
        with self.assertRaisesRegex(ValueError, "^loader: draws records at the rate 0.5"):
            compare(UniformWithReplacementSampler(num_samples=40, sample_rate=0.5))
        with mock.patch("torch.distributed.get_world_size", return_value=1), mock.patch("torch.distributed.get_rank", return_value=0):
            distributed = DistributedUniformWithReplacementSampler(total_size=40, sample_rate=0.25)
        with self.assertRaisesRegex(ValueError, "leaves empty batches out"):
            compare(distributed)
        with self.assertRaisesRegex(ValueError, "^loader: does not draw Poisson"):
            st.compare_with_opacus(engine, 1e-5, DataLoader(torch.zeros(40, 1), batch_size=10, shuffle=True))
        own = UniformWithReplacementSampler(num_samples=40, sample_rate=0.25)
        split = BatchSplittingSampler(sampler=own, max_batch_size=2, optimizer=None)
        self.assertEqual(compare(split).proven.value, compare(own).proven.value)
        rare = SimpleNamespace(history=[(0.6, 1e-6, 2_000_000)], get_epsilon=lambda delta: 1.0)
        found = compare(UniformWithReplacementSampler(num_samples=40, sample_rate=1e-6), rare)
        drawn = 17 / 2**24  # 1e-6 is 16.8 of them
        self.assertEqual(found.proven.value, sfumato.epsilon(0.6, sample_rate=drawn, steps=2_000_000, delta=1e-5).value)
        self.assertGreater(found.proven.value, 1.001 * sfumato.epsilon(0.6, sample_rate=1e-6, steps=2_000_000, delta=1e-5).value)


if __name__ == "__main__":
    unittest.main()
