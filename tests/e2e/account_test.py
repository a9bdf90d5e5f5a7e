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

    def test_batches_are_found_for_epochs_alone(self):
        way = ["--noise_multiplier", 1, "--sampler", "allocate", "--adjacency", "zero_out", "--target_delta", 1e-5, "--target_epsilon", 2]
        self.assertIn("epochs", self.refusal(*way, "--steps", 1000))

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


class Tuning(AccountTest):
    POISSON = ["--noise_multiplier", 1.1, "--sample_rate", 0.00427, "--steps", 14062, *WAY, "--target_delta", 1e-5]

    def test_the_best_of_runs_costs_more_than_one_and_less_than_all(self):
        found = results(self.account(*self.POISSON, "--tuned", "geometric", "--runs-mean", 20))
        self.assertLess(found["epsilon_untuned"], found["epsilon_tuned_attained"])
        self.assertLess(found["epsilon_tuned_attained"], found["epsilon_upper"])
        self.assertLessEqual(found["epsilon_upper"], found["epsilon_tuned_sharp"])
        self.assertLess(found["epsilon_tuned_sharp"], found["epsilon_tuned_simple"])
        self.assertLess(found["epsilon_tuned_simple"], found["epsilon_all_runs"])

    def test_a_table_of_a_file_says_the_same(self):
        path = self.write("tuned.toml", 'noise_multiplier = 2\nsteps = 1\nsampler = "full"\nadjacency = "add_remove"\ntarget_delta = 1e-6\n'
                                        'tuning = {distribution = "geometric", runs_mean = 10}\n')
        found = results(self.account(path))
        # Spec §30.4: mu = 0.5.
        self.assertAlmostEqual(found["epsilon_tuned_simple"], 3.38251242, delta=1e-7)
        self.assertLess(found["epsilon_upper"], 3.25711)
        self.assertGreater(found["epsilon_upper"], 3.25634)

    def test_other_releases_add_up(self):
        path = self.write("both.toml", 'noise_multiplier = 2\nsteps = 1\nsampler = "full"\nadjacency = "add_remove"\ntarget_delta = 1e-6\n'
                                       '[tuning]\ntuned = "geometric"\nruns_mean = 10\n'
                                       '[[release]]\nnoise_multiplier = 10\nsteps = 1\nsampler = "full"\n')
        saved = self.dir / "state.toml"
        both = self.account(path, "--save", saved)
        self.assertGreater(results(both)["epsilon_upper"], 3.257)
        again = results(self.account(saved, "--target_delta", 1e-6))
        self.assertEqual(again["epsilon_upper"], results(both)["epsilon_upper"])
        self.assertIn("only the best run is released", saved.read_text())

    def test_fixed_numbers_of_runs_are_all_paid(self):
        found = results(self.account("--noise_multiplier", 2, "--steps", 1, "--sampler", "full", "--adjacency", "add_remove",
                                     "--target_delta", 1e-6, "--tuned", "fixed", "--runs-mean", 10))
        self.assertAlmostEqual(found["epsilon_upper"], 8.30622505, delta=1e-7)

    def test_noise_for_a_target(self):
        document = self.account("--sample_rate", 0.01, "--steps", 1000, *WAY, "--target_delta", 1e-5, "--target_epsilon", 3,
                                "--tuned", "geometric", "--runs-mean", 10)
        found = results(document)
        self.assertLessEqual(found["epsilon_upper"], 3)
        self.assertGreater(found["epsilon_upper"], 3 * (1 - 1e-3))
        self.assertGreater(found["noise_multiplier"], 0.8136)  # of one run

    def test_claims_are_not_refuted_for_the_run_at_hand(self):
        way = [*self.POISSON, "--tuned", "geometric", "--runs-mean", 20]
        self.account(*way, "--claim", "eps=4", code=0)
        self.account(*way, "--claim", "eps=3", code=2)

    def test_refusals(self):
        full = [*self.POISSON]
        self.assertIn("tuned", self.refusal(*full, "--runs-mean", 10))
        self.assertIn("runs-mean", self.refusal(*full, "--tuned", "geometric"))
        self.assertIn("runs_mean", self.refusal(*full, "--tuned", "geometric", "--runs-mean", 1))
        self.assertIn("eta", self.refusal(*full, "--tuned", "negative_binomial", "--gamma", 0.1))
        self.assertIn("gamma", self.refusal(*full, "--tuned", "poisson", "--gamma", 0.1))
        self.assertIn("whole", self.refusal(*full, "--tuned", "fixed", "--runs-mean", 2.5))
        self.assertIn("single records", self.refusal(*full, "--tuned", "geometric", "--runs-mean", 10, "--group_size", 2))


class Normalisers(AccountTest):
    POISSON = ["--noise_multiplier", 1.1, "--steps", 100, *WAY, "--target_delta", 1e-6]

    def test_int_of_the_rate_that_does_not_move_changes_nothing(self):
        plain = results(self.account(*self.POISSON, "--sample_rate", 0.25))
        same = results(self.account(*self.POISSON, "--sample_rate", 0.25, "--normaliser", "int_qn", "--records", 1001, "--dimension", 10))
        self.assertEqual(plain["epsilon_upper"], same["epsilon_upper"])

    def test_int_of_the_rate_that_moves_is_refuted(self):
        run = [*self.POISSON, "--sample_rate", 0.25, "--normaliser", "int_qn", "--records", 1000, "--dimension", 79510]
        document = self.account(*run, "--claim", "eps=8", code=1)
        self.assertEqual(document["verdicts"][0]["outcome"], "violated")
        self.assertGreater(results(document)["epsilon_upper"], results(document)["epsilon_lower"])
        said = " ".join(block.get("text", "") for block in document["blocks"])
        self.assertIn("declared constant", said)

    def test_full_batches_are_exact(self):
        found = results(self.account("--noise_multiplier", 4, "--steps", 10, "--sampler", "full", "--adjacency", "add_remove",
                                     "--target_delta", 1e-5, "--normaliser", "n", "--records", 1000, "--dimension", 10))
        self.assertAlmostEqual(found["epsilon_upper"] / found["epsilon_lower"], 1, delta=1e-6)
        # Twice the shift of a constant normaliser.
        near = results(self.account("--noise_multiplier", 2, "--steps", 10, "--sampler", "full", "--adjacency", "add_remove",
                                    "--target_delta", 1e-5))
        self.assertAlmostEqual(found["epsilon_upper"], near["epsilon_upper"], delta=0.05)

    def test_the_older_names_work(self):
        plain = results(self.account(*self.POISSON, "--sample_rate", 0.25))
        self.assertEqual(plain, results(self.account(*self.POISSON, "--sample_rate", 0.25, "--normalise", "expected")))

    def test_refusals(self):
        run = [*self.POISSON, "--sample_rate", 0.25]
        self.assertIn("dimension", self.refusal(*run, "--normaliser", "int_qn", "--records", 1000))
        self.assertIn("records", self.refusal(*run, "--normaliser", "int_qn", "--dimension", 10))
        self.assertIn("dimension", self.refusal(*run, "--dimension", 10))
        self.assertIn("shows that size", self.refusal(*run, "--normaliser", "batch"))
        self.assertIn("by itself", self.refusal(*run, "--normaliser", "n", "--records", 1000, "--dimension", 10, "--tuned", "geometric",
                                                "--runs-mean", 5))
        full = ["--steps", 1, "--sampler", "full", "--adjacency", "add_remove", "--target_delta", 1e-6, "--normaliser", "n",
                "--records", 1000, "--dimension", 5]
        for target in (["--target_epsilon", 1], ["--target_advantage", 0.1], ["--target_mu", 1], ["--target_tpr", 0.05, "--at_fpr", 0.01]):
            self.assertIn("targets are met", self.refusal(*full, *target))


class OneNumber(AccountTest):
    POISSON = ["--noise_multiplier", 1.1, "--sample_rate", 0.00427, "--steps", 14062, *WAY, "--target_delta", 1e-5]

    def test_mu_with_its_regret(self):
        found = results(self.account(*self.POISSON))
        self.assertLess(found["mu_lower"], 0.584532)
        self.assertGreater(found["mu_upper"], 0.584340)
        self.assertLess(found["mu_regret"], 2.9e-3)
        wider = results(self.account(*self.POISSON, "--mu-outside", 1e-10))
        self.assertLess(wider["mu_lower"], 0.593219)
        self.assertGreater(wider["mu_upper"], 0.593023)

    def test_no_mu_holds_at_all_epsilons(self):
        self.assertIn("all epsilons", self.refusal(*self.POISSON, "--mu-outside", 0))

    def test_reconstruction_is_the_curve(self):
        found = self.account(*self.POISSON, "--baseline", "0.01,0.1")
        rows = [row for row in found["results"] if row["quantity"] == "reconstruction"]
        self.assertEqual([row["baseline"] for row in rows], [0.01, 0.1])
        self.assertAlmostEqual(rows[0]["value"], results(found)["tpr_at_0.01"], delta=1e-12)
        self.assertIn("add_remove", self.refusal(*self.POISSON[:-3], "replace_one", "--target_delta", 1e-5, "--baseline", 0.1))

    def test_parts_are_explained(self):
        document = self.account(*self.POISSON, "--explain")
        rows = [block for block in document["blocks"] if block.get("key") == "parts"][0]["rows"]
        parts = {row["part"]: row["epsilon"]["value"] for row in rows}
        self.assertLess(parts["one step"], parts["one epoch"])
        self.assertLess(parts["one epoch"], parts["the run"])
        self.assertLess(parts["the run"], parts["the run if it were known who is sampled when"])

    def test_trade_off_as_a_file(self):
        for name in ("curve.csv", "curve.json"):
            path = self.dir / name
            self.account(*self.POISSON, "--trade-off", path)
            text = path.read_text()
            if name.endswith(".json"):
                points = [(p["fpr"], p["tpr_at_most"], p["fnr_at_least"]) for p in json.loads(text)["points"]]
            else:
                points = [tuple(map(float, line.split(","))) for line in text.splitlines()[1:]]
            self.assertEqual(len(points), 81)
            for fpr, tpr, fnr in points:
                self.assertGreaterEqual(tpr, fpr)
                self.assertLessEqual(fnr, 1 - tpr)


class Statements(AccountTest):
    RUN = ["--noise_multiplier", 1.1, "--sample_rate", 0.00427, "--steps", 14062, *WAY, "--target_delta", 1e-5]

    def statement(self, name, *more):
        path = self.dir / name
        self.account(*self.RUN, *more, "--statement", path, "--force")
        return path.read_text()

    def test_every_form_says_the_same(self):
        saved = self.dir / "state.toml"
        self.account(*self.RUN, "--save", saved)
        digest = [line for line in saved.read_text().splitlines() if line.startswith("sha256")][0].split('"')[1]
        forms = [self.statement("privacy.md"), self.statement("record.yaml"), self.statement("privacy.json"),
                 self.statement("list.md", "--statement-format", "checklist")]
        for text in forms:
            self.assertIn("2.38", text)
            self.assertIn(digest, text)
            self.assertIn("14,062 steps", text)
        self.assertEqual(forms[1], self.statement("record.txt", "--statement-format", "registry"))

    def test_what_is_not_covered_is_said(self):
        plain = json.loads(self.statement("privacy.json"))
        for line in ("tuning", "evaluation_on_private_data", "preprocessing", "floating_point"):
            self.assertFalse(plain[line]["covered"])
            self.assertIn("Not covered", plain[line]["text"])
        tuned = json.loads(self.statement("tuned.json", "--tuned", "geometric", "--runs-mean", 20))
        self.assertTrue(tuned["tuning"]["covered"])
        self.assertIn("geometric with mean 20", tuned["tuning"]["text"])
        self.assertGreater(tuned["epsilon"], plain["epsilon"])

    def test_the_record_has_the_keys_of_the_registry(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("needs PyYAML")
        record = yaml.safe_load(self.statement("record.yaml"))
        self.assertEqual(set(record), {"url_slug", "status", "tier", "deployment"})
        self.assertEqual((record["status"], record["tier"]), ("Draft", 3))
        # As published records of September 2026 have them.
        keys = {"basic": {"name", "data_curators", "intended_use", "data_product_type", "data_product_region", "description",
                          "publication_date", "data_product_sector"},
                "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
                "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
                "deployment_model": {"model_name", "model_name_details", "actors", "release_type", "data_source_type", "access_type"},
                "accounting": {"post_processing", "composition"},
                "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
                "administrative": {"sources", "registry_authors"}}
        self.assertEqual({part: set(fields) for part, fields in record["deployment"].items()}, keys)
        parameters = record["deployment"]["privacy_loss"]["privacy_parameters"]
        self.assertEqual(parameters["delta"], 1e-5)
        self.assertGreaterEqual(parameters["epsilon"], 2.383681219)
        self.assertEqual(record["deployment"]["dp_variant"]["variant_name"], "Approximate DP")
        self.assertTrue(record["deployment"]["basic"]["name"].startswith("QUESTION: "))

    def test_boxes_are_ticked_where_there_is_an_answer(self):
        plain = self.statement("list.md", "--statement-format", "checklist")
        tuned = self.statement("list.md", "--statement-format", "checklist", "--tuned", "geometric", "--runs-mean", 20)
        self.assertIn("- [ ] **Tuning.** Not covered", plain)
        self.assertIn("- [x] **Tuning.**", tuned)
        self.assertIn("- [x] **Unit of privacy.**", plain)
        self.assertIn("- [ ] **Utility.** To be answered", plain)

    def test_refusals(self):
        self.refusal(*self.RUN, "--statement-format", "json")
        self.refusal(*self.RUN, "--statement", self.dir / "x.md", "--statement-format", "poem")


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
