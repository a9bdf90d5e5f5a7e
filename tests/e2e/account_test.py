"""`sfumato account`: certified epsilons, targets, claims, files, and refusals in one line."""
import json
import signal
import subprocess
import time
import unittest

from support import BAD_INPUT, ROOT, SFUMATO, USAGE, ProgramTest, run

RUN = ["--noise_multiplier", 1, "--sample_rate", 0.01, "--steps", 10000]
WAY = ["--sampler", "poisson", "--adjacency", "add_remove"]


def results(document):
    return {row["quantity"]: row["value"] for row in document["results"]}


class AccountTest(ProgramTest):
    def account(self, *args, code=0):
        done = run("account", *args, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def refusal(self, *args, code=USAGE):
        done = run("account", *args)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr


class Values(AccountTest):
    def test_published_epsilon(self):
        """2.446734 is published for q = 0.01, sigma = 2, 10,000 steps, delta = 1e-6."""
        found = results(self.account("--noise_multiplier", 2, "--sample_rate", 0.01, "--steps", 10000, *WAY,
                                     "--target_delta", 1e-6))
        self.assertLessEqual(found["epsilon_lower"], 2.446733944483725719)
        self.assertGreaterEqual(found["epsilon_upper"], 2.446733944483725719)
        self.assertLess(found["epsilon_upper"] - found["epsilon_lower"], 1e-8)
        self.assertGreater(found["epsilon_renyi"], found["epsilon_upper"])

    def test_answer_comes_first_and_is_short(self):
        done = run("account", *RUN, *WAY, "--target_delta", 1e-5)
        lines = done.stdout.splitlines()
        self.assertIn("epsilon <=", lines[3])
        self.assertLessEqual(len(lines), 32)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_epochs_and_sizes_are_rates_and_steps(self):
        sizes = results(self.account("--noise_multiplier", 1, "--batch_size", 100, "--records", 10000, "--epochs", 100,
                                     *WAY, "--target_delta", 1e-5))
        rates = results(self.account(*RUN, *WAY, "--target_delta", 1e-5))
        self.assertEqual(sizes["epsilon_upper"], rates["epsilon_upper"])

    def test_names_of_other_tools(self):
        ours = results(self.account(*RUN, *WAY, "--target_delta", 1e-5))
        theirs = results(self.account("--sigma", 1, "--sampling_probability", 0.01, "--num_steps", 10000, *WAY, "--delta", 1e-5))
        self.assertEqual(ours, theirs)

    def test_layers_and_absolute_noise(self):
        whole = results(self.account("--noise_std", 2, "--max_grad_norm", 2, *RUN[2:], *WAY, "--target_delta", 1e-5))
        self.assert_close(whole["epsilon_upper"], results(self.account(*RUN, *WAY, "--target_delta", 1e-5))["epsilon_upper"])
        # Four layers, each with its own clip and noise: the multiplier is half of each.
        layers = results(self.account("--clips", "1,1,1,1", "--noise_stds", "2,2,2,2", *RUN[2:], *WAY, "--target_delta", 1e-5))
        self.assert_close(layers["epsilon_upper"], whole["epsilon_upper"])

    def test_shuffled_batches_are_not_poisson(self):
        document = self.account("--noise_multiplier", 1, "--batch_size", 100, "--records", 10000, "--epochs", 10, "--sampler",
                                "shuffle", "--adjacency", "zero_out", "--target_delta", 1e-5)
        self.assert_close(results(document)["epsilon_upper"], 17.85658683010761)
        self.assertIn("not proven for shuffled batches", json.dumps(document))

    def test_epochs_of_shuffled_steps_are_rounded_up(self):
        """Batches of 300 out of 1,000 leave three whole ones per epoch: 10 steps begin a fourth epoch."""
        way = ["--sampler", "shuffle", "--adjacency", "zero_out", "--target_delta", 1e-5, "--noise_multiplier", 2]
        four = results(self.account("--epochs", 4, *way))["epsilon_upper"]
        for sizes in (["--batch_size", 300, "--records", 1000], ["--sample_rate", 0.3]):
            self.assertEqual(results(self.account("--steps", 10, *sizes, *way))["epsilon_upper"], four)

    def test_opacus_takes_another_rate(self):
        text = run("account", "--noise_multiplier", 1, "--batch_size", 300, "--records", 1000, "--epochs", 10, *WAY,
                   "--target_delta", 1e-5).stdout
        self.assertIn("Opacus, sample rate 0.25, 40 steps", " ".join(text.split()))

    def test_second_method(self):
        document = self.account(*RUN, *WAY, "--target_delta", 1e-5, "--check")
        self.assertIn("which agrees", json.dumps(document))

    def test_the_other_method_alone(self):
        ours = results(self.account("--noise_multiplier", 2, *RUN[2:], *WAY, "--target_delta", 1e-5))
        other = results(self.account("--noise_multiplier", 2, *RUN[2:], *WAY, "--target_delta", 1e-5, "--method", "pld"))
        self.assertLessEqual(ours["epsilon_lower"], other["epsilon_upper"])
        self.assertLessEqual(other["epsilon_lower"], ours["epsilon_upper"])
        self.assert_close(ours["epsilon_upper"], other["epsilon_upper"], 1e-2)

    def test_sweep(self):
        document = self.account("--noise_multiplier", "1,2,4", *RUN[2:], *WAY, "--target_delta", 1e-5)
        found = [row["value"] for row in document["results"] if row["quantity"] == "epsilon_upper"]
        self.assertEqual(len(found), 3)
        self.assertEqual(found, sorted(found, reverse=True))


class Targets(AccountTest):
    def test_noise(self):
        found = results(self.account("--target_epsilon", 8, "--target_delta", 1e-5, "--sample_rate", 0.04, "--steps", 2250, *WAY))
        self.assertGreaterEqual(found["noise_multiplier"], 1.3458983293791285)
        self.assertLess(found["noise_multiplier"], 1.3458983293791285 * (1 + 1e-8))
        self.assertLessEqual(found["epsilon_upper"], 8)

    def test_steps(self):
        found = results(self.account("--target_epsilon", 3, "--target_delta", 1e-6, "--sample_rate", 0.01,
                                     "--noise_multiplier", 1, *WAY))
        self.assertEqual(found["steps"], 2061)

    def test_advantage_and_rates(self):
        found = results(self.account("--target_advantage", 0.1, *RUN[2:], *WAY, "--target_delta", 1e-5))
        self.assertLessEqual(found["advantage"], 0.1)
        found = results(self.account("--target_tpr", 0.002, "--at_fpr", 0.001, *RUN[2:], *WAY, "--target_delta", 1e-5))
        self.assertLessEqual(found["tpr_at_0.001"], 0.002)

    def test_goes_on_from_what_was_saved(self):
        state = self.dir / "first.toml"
        run("account", *RUN, *WAY, "--target_delta", 1e-5, "--save", state)
        again = results(self.account(state, "--target_delta", 1e-5))
        self.assertEqual(again["epsilon_upper"], results(self.account(*RUN, *WAY, "--target_delta", 1e-5))["epsilon_upper"])
        more = results(self.account(state, "--target_epsilon", 9, "--target_delta", 1e-5, "--sample_rate", 0.01, "--steps", 1000,
                                    "--sampler", "poisson"))
        self.assertLessEqual(more["epsilon_upper"], 9)
        self.assertGreater(more["epsilon_upper"], 9 * (1 - 1e-6))


class Claims(AccountTest):
    def verdict(self, claim, *args, code):
        document = self.account(*RUN, *args, "--claim", claim, code=code)
        return document["verdicts"][0]["outcome"]

    def test_three_outcomes(self):
        self.assertEqual(self.verdict("eps=6.3,delta=1e-5", *WAY, code=0), "holds")
        self.assertEqual(self.verdict("eps=6,delta=1e-5", *WAY, code=1), "violated")
        way = ["--sampler", "shuffle", "--adjacency", "zero_out"]
        self.assertEqual(self.verdict("eps=6,delta=1e-5", *way, code=2), "open")

    def test_delta_of_the_question(self):
        self.account(*RUN, *WAY, "--target_delta", 1e-5, "--claim", "eps=7")
        self.assertIn("delta", self.refusal(*RUN, *WAY, "--claim", "eps=7"))


class Files(AccountTest):
    def test_releases(self):
        document = self.account(ROOT / "examples/account/two_phases.toml")
        parts = results(document)
        self.assertGreater(parts["epsilon_upper"], 1)

    def test_history_of_opacus(self):
        found = results(self.account(ROOT / "examples/account/opacus.json", *WAY, "--target_delta", 1e-5))
        one = results(self.account("--noise_multiplier", 1.1, "--sample_rate", 0.00427, "--steps", 14062, *WAY, "--target_delta", 1e-5))
        self.assertLess(found["epsilon_upper"], one["epsilon_upper"])
        self.assertIn("sampler", self.refusal(ROOT / "examples/account/opacus.json", "--adjacency", "add_remove", "--target_delta", 1e-5))
        for text in ("{", "[]", '{"history": [[1, 2]]}', '{"history": 3}', '{"history": [[1, 0.1, -5]]}'):
            path = self.write("bad.json", text)
            self.refusal(path, *WAY, "--target_delta", 1e-5, code=BAD_INPUT)

    def test_statement(self):
        path = self.dir / "privacy.md"
        run("account", *RUN, *WAY, "--target_delta", 1e-5, "--statement", path)
        text = path.read_text()
        for part in ("differential privacy", "10,000 steps", "Not covered"):
            self.assertIn(part, text)

    def test_page(self):
        page = self.dir / "page.html"
        done = run("account", *RUN, *WAY, "--target_delta", 1e-5, "--report", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Best attack against this run", page.read_text())


class Refusals(AccountTest):
    def test_everything_missing_at_once(self):
        line = self.refusal("--noise_multiplier", 1.1, "--sample_rate", 0.00427)
        for key in ("adjacency", "target_delta", "sampler", "steps"):
            self.assertIn(key, line)

    def test_values(self):
        for option, value in (("--sample_rate", 1.5), ("--sample_rate", -0.1), ("--noise_multiplier", -1), ("--steps", 1.5),
                              ("--steps", -1), ("--target_delta", 0), ("--target_delta", 1), ("--target_delta", 2),
                              ("--group_size", 0), ("--epochs", 0), ("--noise_multiplier", "nan"),
                              ("--noise_multiplier", 0), ("--noise_multiplier", "0.5,0")):
            settings = {"--noise_multiplier": 1, "--sample_rate": 0.01, "--steps": 100, "--target_delta": 1e-5}
            if option == "--epochs":
                del settings["--steps"]
            settings[option] = value
            with self.subTest(option=option, value=value):
                words = [word for pair in settings.items() for word in pair]
                self.assertIn(option.strip("-").replace("_", "-"), self.refusal(*words, *WAY).replace("_", "-"))

    def test_several_wrong_values_at_once(self):
        refused = run("account", "--noise_multiplier", "-1", "--sample_rate", "1.5", "--steps", "1.5", "--target_delta", "2",
                      "--sampler", "poisson", "--adjacency", "add_remove")
        self.assertEqual(refused.returncode, 64)
        self.assertEqual(refused.stderr.count("\n"), 1)
        for name in ("--noise-multiplier: -1", "--sample-rate: 1.5", "--steps = 1.5", "--target-delta: 2"):
            self.assertEqual(refused.stderr.count(name), 1, refused.stderr)

    def test_contradictions(self):
        delta = ["--target_delta", 1e-5]
        self.assertIn("epochs", self.refusal(*RUN, *WAY, *delta, "--epochs", 3))
        self.assertIn("batch_size", self.refusal(*RUN, *WAY, *delta, "--batch_size", 3))
        self.assertIn("records", self.refusal("--noise_multiplier", 1, "--batch_size", 10, "--epochs", 2, *WAY, *delta))
        self.assertIn("claim", self.refusal(*RUN, *WAY, *delta, "--target_epsilon", 3))
        self.assertIn("full", self.refusal(*RUN, "--sampler", "full", "--adjacency", "add_remove", *delta))
        self.assertIn("actual", self.refusal(*RUN, *WAY, *delta, "--normalise", "actual"))

    def test_no_proof(self):
        delta = ["--target_delta", 1e-5]
        self.assertIn("shifts", self.refusal(*RUN, "--sampler", "shuffle", "--adjacency", "add_remove", *delta))
        self.assertIn("replace_one", self.refusal("--noise_multiplier", 1, "--batch_size", 10, "--records", 100, "--steps", 5,
                                                  "--sampler", "fixed_size", "--adjacency", "add_remove", *delta))

    def test_a_group_that_is_too_large(self):
        line = self.refusal("--mechanism", "laplace", "--noise_multiplier", 1, "--sampler", "full", "--steps", 1,
                            "--adjacency", "add_remove", "--target_delta", 1e-5, "--group_size", 9223372036854775807)
        self.assertIn("group_size", line)


class Signals(AccountTest):
    def test_many_releases_end_on_a_signal(self):
        """A hundred different releases with all curves take seconds; a signal in their middle ends them at once."""
        releases = "".join(f"[[release]]\nnoise_multiplier = {1 + i / 100}\nsample_rate = {0.01 + 1e-5 * i}\n"
                           'sampler = "poisson"\nsteps = 1\n' for i in range(100))
        path = self.dir / "many.toml"
        path.write_text('adjacency = "add_remove"\ntarget_delta = 1e-5\n' + releases)
        for number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([SFUMATO, "account", path, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                time.sleep(0.5)
                self.assertIsNone(running.poll(), "too quick to be stopped")
                running.send_signal(number)
                start = time.monotonic()
                self.assertEqual(running.wait(timeout=60), 130)
                self.assertLess(time.monotonic() - start, 2.0)


class LargeDelta(ProgramTest):
    RUN = ["account", "--noise-multiplier", 1, "--records", 1000, "--batch-size", 10, "--steps", 10, "--adjacency", "add_remove", "--sampler", "poisson"]

    def test_a_delta_above_one_over_the_records_is_refused(self):
        self.assert_refused(USAGE, ["--target-delta", "0.01 is above 1 / 1000 records", "--allow-large-delta"], *self.RUN, "--target-delta", 0.01)
        allowed = self.document(*self.RUN, "--target-delta", 0.01, "--allow-large-delta")
        self.assertIn("above 1 / 1000 records", " ".join(allowed.statements("warning")))
        self.assertIn("near 1 / 1000 records", " ".join(self.document(*self.RUN, "--target-delta", 2e-4).statements("warning")))
        self.assertEqual(self.document(*self.RUN, "--target-delta", 1e-4).statements("warning"), [])  # 1 / (10 records) itself

    def test_a_target_that_protects_nothing(self):
        self.assert_refused(USAGE, ["--target-epsilon", "1e+300 protects nothing"], "account", "--sampler", "full", "--steps", 5, "--adjacency",
                            "add_remove", "--target-delta", 1e-6, "--target-epsilon", "1e300")


if __name__ == "__main__":
    unittest.main()
