import json
import math
import pathlib
import pickle
import tempfile
import unittest

import sfumato
from support import SOURCE, TestCase, command_line


class Accounting(TestCase):
    RUN = dict(noise_multiplier=1.1, sample_rate=0.00427, steps=14062)

    def test_same_as_the_command_line(self):
        document = command_line("account", "--noise-multiplier", 1.1, "--sample-rate", 0.00427, "--steps", 14062,
                                "--sampler", "poisson", "--adjacency", "add_remove", "--target-delta", 1e-5)
        expected = {row["quantity"]: row for row in document["results"]}
        found = sfumato.epsilon(**self.RUN, delta=1e-5)
        self.assertEqual(found.value, expected["epsilon_upper"]["value"])
        self.assertEqual(found.to_dict(), {k: expected["epsilon_upper"][k] for k in found.to_dict()})
        accountant = sfumato.Accountant()
        accountant.step(**self.RUN)
        self.assertEqual(accountant.epsilon(1e-5).lower.value, expected["epsilon_lower"]["value"])
        self.assertEqual(accountant.renyi_epsilon(1e-5).value, expected["epsilon_renyi"]["value"])
        self.assertEqual(accountant.advantage().value, expected["advantage"]["value"])
        self.assertEqual(accountant.tpr(0.01).value, expected["tpr_at_0.01"]["value"])
        self.assertEqual(accountant.attack_accuracy().value, expected["attack_accuracy"]["value"])
        answer = sfumato.account(**self.RUN, sampler="poisson", adjacency="add_remove", target_delta=1e-5)
        self.assertEqual(answer.to_dict()["results"], document["results"])
        self.assertEqual(answer.accountant.get_epsilon(1e-5), found)
        compared = sfumato.account(**{**self.RUN, "noise_multiplier": [1.0, 2.0]}, sampler="poisson", adjacency="add_remove",
                                   target_delta=1e-5)
        with self.assertRaisesRegex(ValueError, "several noise multipliers"):
            compared.accountant

    def test_names_of_delta_and_comparisons(self):
        found = sfumato.epsilon(**self.RUN, target_delta=1e-5)
        self.assertEqual(found, sfumato.epsilon(**self.RUN, delta=1e-5))
        self.assertRefused(ValueError, "^delta: is missing", lambda: sfumato.epsilon(**self.RUN))
        for compare in (lambda: found < 3, lambda: 3 >= found, lambda: found > found, lambda: round(found, 2)):
            self.assertRefused(TypeError, "only an upper bound, not an exact number: use .value", compare)
        exact = sfumato.Claimed(2.5)
        self.assertTrue(exact < 3 and exact >= 2.5 and exact <= sfumato.Claimed(2.5) and not exact > 3)
        self.assertEqual(round(sfumato.Claimed(2.456), 1), 2.5)

    def test_steps_one_by_one(self):
        one, many = sfumato.Accountant(), sfumato.Accountant()
        one.step(1.0, 0.01, steps=30)
        one.step(2.0, 0.01, steps=7)
        for i in range(30):
            many.step(noise_multiplier=1.0, sample_rate=0.01)
            if i == 10:
                many.get_epsilon(1e-5)  # looking changes nothing
        for _ in range(7):
            many.step(2.0, 0.01)
        self.assertEqual(one.history, many.history)
        self.assertEqual(len(many), 2)
        self.assertEqual(one.get_epsilon(1e-6), many.get_epsilon(1e-6))
        self.assertEqual(one.get_delta(0.5), many.get_delta(0.5))

    def test_state(self):
        accountant = sfumato.Accountant("replace_one")
        accountant.compose(noise_multiplier=7, sampler="full", steps=20)
        accountant.compose(mechanism="laplace", noise_multiplier=9, sampler="full", steps=1)
        for copy in (pickle.loads(pickle.dumps(accountant)), sfumato.Accountant()):
            copy.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
            self.assertEqual(copy.get_epsilon(1e-5), accountant.get_epsilon(1e-5))
            self.assertEqual(copy.adjacency, "replace_one")
            copy.step(1.0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "releases.toml"
            accountant.save(path)
            self.assertEqual(sfumato.Accountant.load(path).get_epsilon(1e-5), accountant.get_epsilon(1e-5))
            found = {r["quantity"]: r["value"] for r in command_line("account", path, "--target-delta", "1e-5")["results"]}
            self.assertEqual(found["epsilon_upper"], accountant.get_epsilon(1e-5).value)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.assertRefused(FileExistsError, "force=True", lambda: accountant.save(path))
            self.assertRefused(ValueError, "is an account of releases", lambda: sfumato.Accountant("replace_one").save(path, force=True))
            accountant.compose(noise_multiplier=8, sampler="full", steps=1)
            accountant.save(path, force=True)
            self.assertEqual(sfumato.Accountant.load(path).get_epsilon(1e-5), accountant.get_epsilon(1e-5))

    def test_state_of_opacus(self):
        state = json.loads((SOURCE / "examples/account/opacus.json").read_text())
        accountant = sfumato.Accountant()
        accountant.load_state_dict(state)
        found = {r["quantity"]: r["value"] for r in command_line(
            "account", "examples/account/opacus.json", "--target-delta", "1e-5", "--adjacency", "add_remove", "--sampler", "poisson")["results"]}
        self.assertEqual(accountant.get_epsilon(1e-5).value, found["epsilon_upper"])
        self.assertRefused(ValueError, "neither releases nor a history", lambda: accountant.load_state_dict({}))

    def test_conditions_stay_when_the_last_release_goes_on(self):
        accountant = sfumato.Accountant("zero_out")
        for _ in range(2):
            accountant.step(noise_multiplier=1.0, sample_rate=0.01)
            accountant.require("a full moon")
            accountant.step(noise_multiplier=1.0, sample_rate=0.01)
        copy = sfumato.Accountant("zero_out")
        copy.load_state_dict(accountant.state_dict())
        copy.step(noise_multiplier=1.0, sample_rate=0.01)
        for each in (accountant, copy):
            self.assertIn("a full moon", each.conditions)
            self.assertIn("a full moon", each.get_epsilon(1e-5).assumptions)

    def test_calibration(self):
        sigma = sfumato.noise_multiplier(target_epsilon=3, delta=1e-5, sample_rate=0.01, steps=1000)
        self.assertLessEqual(sfumato.epsilon(sigma, sample_rate=0.01, steps=1000, delta=1e-5).value, 3 + 1e-9)
        self.assertGreater(sfumato.epsilon(sigma * (1 - 1e-6), sample_rate=0.01, steps=1000, delta=1e-5).value, 3)
        full = sfumato.noise_multiplier(target_epsilon=1, delta=1e-6, sample_rate=1.0, steps=1)
        self.assertLessEqual(sfumato.epsilon(full, delta=1e-6).value, 1 + 1e-9)
        self.assertRefused(ValueError, "is what is sought|given", lambda: sfumato.noise_multiplier(
            noise_multiplier=1.0, delta=1e-5, sample_rate=1.0, steps=10))

    def test_other_ways_to_say_a_run(self):
        by_rate = sfumato.epsilon(1.0, sample_rate=0.01, steps=200, delta=1e-5)
        by_batch = sfumato.epsilon(1.0, batch_size=100, records=10000, epochs=2, delta=1e-5)
        self.assertEqual(by_rate, by_batch)
        self.assertLess(by_rate.value, sfumato.epsilon(1.0, sample_rate=0.01, steps=200, delta=1e-5, group_size=2).value)

    def test_claim(self):
        answer = sfumato.account(**self.RUN, sampler="poisson", adjacency="add_remove", claim=(2, 1e-5), target_delta=1e-5)
        self.assertEqual(answer.verdict, "violated")
        self.assertEqual(answer.verdicts[0]["outcome"], "violated")
        self.assertEqual(pickle.loads(pickle.dumps(answer)).accountant.get_epsilon(1e-5), answer.epsilon)

    def test_refusals(self):
        accountant = sfumato.Accountant()
        self.assertRefused(ValueError, "^noise_multiplier: ", lambda: accountant.step(-1.0))
        self.assertRefused(ValueError, "^sample_rate: ", lambda: accountant.step(1.0, 1.5))
        self.assertRefused(ValueError, "delta = 2", lambda: accountant.get_epsilon(2.0))
        self.assertRefused(ValueError, "adjacency", lambda: sfumato.Accountant("remove"))
        self.assertRefused(ValueError, "unknown", lambda: accountant.compose(noise_multipler=1))
        self.assertRefused(ValueError, "NaN|nan", lambda: accountant.step(math.nan))
        self.assertRefused(TypeError, "^noise_multiplier: '1' is no number", lambda: accountant.step("1"))
        self.assertRefused(ValueError, "^steps: 1.5 is not a whole", lambda: accountant.step(1.0, steps=1.5))
        self.assertRefused(TypeError, "^delta: .x. is no number", lambda: accountant.get_epsilon("x"))
        self.assertEqual(len(accountant), 0)  # nothing was added
        accountant.step(1.0, steps=7.0)  # a quotient


class ClaimedNumbers(TestCase):
    def test_float(self):
        self.assertEqual(float(sfumato.Claimed(0.5)), 0.5)
        for claim in ("upper_bound", "lower_bound", "estimate"):
            with self.assertRaisesRegex(TypeError, "use .value"):
                float(sfumato.Claimed(0.5, claim))
            with self.assertRaisesRegex(TypeError, "use .value"):
                f"{sfumato.Claimed(0.5, claim):.3f}"
        self.assertEqual(f"{sfumato.Claimed(0.5):.3f} {sfumato.Claimed(0.5, 'upper_bound')}", "0.500 <= 0.5000")
        self.assertRefused(ValueError, "unknown", lambda: sfumato.Claimed(1.0, "sure"))

    def test_rounding_is_towards_the_claim(self):
        self.assertEqual(str(sfumato.Claimed(1.00001, "upper_bound")), "<= 1.001")
        self.assertEqual(str(sfumato.Claimed(0.99999, "lower_bound")), ">= 0.9999")

    def test_html_is_escaped(self):
        html = sfumato.Claimed(1.0, "upper_bound", '<b>"')._repr_html_()
        self.assertIn("&lt;= 1", html)
        self.assertNotIn("<b>\"", html)

    def test_pickle_and_equality(self):
        number = sfumato.Claimed(1.5, "lower_bound", "method", ["one", "two"], 0.95)
        copy = pickle.loads(pickle.dumps(number))
        self.assertEqual(copy, number)
        self.assertEqual(hash(copy), hash(number))
        self.assertEqual(copy.assumptions, ["one", "two"])
        self.assertNotEqual(copy, 1.5)
        self.assertNotEqual(copy, sfumato.Claimed(1.5))


if __name__ == "__main__":
    unittest.main()
