import pickle
import re
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import sfumato
from support import SOURCE, TestCase, command_line, numbers


class Problems(TestCase):
    def test_files_as_on_the_command_line(self):
        for command, name in (("quadratic", "shift"), ("quadratic", "chain"), ("quadratic", "files"), ("bound", "shift")):
            path = f"examples/{command}/{name}.toml"
            answer = getattr(sfumato, command)(SOURCE / path)
            self.assertEqual(numbers(answer.to_dict()), numbers(command_line(command, path)), path)

    def test_keywords_over_a_file(self):
        answer = sfumato.quadratic(SOURCE / "examples/quadratic/shift.toml", times=[0.5, float("inf")])
        expected = command_line("quadratic", "examples/quadratic/shift.toml", "--times", "0.5,inf")
        self.assertEqual(numbers(answer.to_dict()), numbers(expected))

    def test_arrays(self):
        inline = sfumato.quadratic(d=dict(A=[10, 1], minimiser=[1, 1], Sigma=[4, 0.25]),
                                   d_prime=dict(minimiser=[1.1, 1.1]), times=[1, np.inf])
        arrays = sfumato.quadratic(d=dict(A=np.diag([10.0, 1.0]), minimiser=np.ones(2), Sigma=np.array([4, 0.25])),
                                   d_prime=dict(minimiser=np.full(2, 1.1)), times=np.array([1, np.inf]))
        self.assertEqual([r.value.value for r in inline.find("advantage")], [r.value.value for r in arrays.find("advantage")])
        with self.assertRaisesRegex(KeyError, "2 numbers are called advantage"):
            inline["advantage"]
        with self.assertRaisesRegex(KeyError, "no advantages"):
            inline["advantages"]
        big = np.eye(30) + 0.01
        one = sfumato.quadratic(d=dict(A=big, minimiser=np.zeros(30), Sigma=1.0), d_prime=dict(minimiser=np.full(30, 0.01)),
                                times=[1.0])
        self.assertEqual(one["kl_forward"].claim, "exact")

    def test_numbers_are_attributes(self):
        answer = sfumato.quadratic(SOURCE / "examples/quadratic/shift.toml", times=[0.5, 1.0])
        self.assertEqual(len(answer.advantage), 2)
        self.assertEqual(answer.advantage[1].value, answer.get("advantage", time=1.0).value)
        self.assertEqual(answer.kl.forward.at(time=0.5).value, answer.get("kl_forward", time=0.5).value)
        self.assertEqual([of["time"] for of in answer.kl.reverse.of], [0.5, 1.0])
        self.assertIn("forward", dir(answer.kl))
        self.assertIn("advantage", dir(answer))
        self.assertIn("best attack", type(answer).advantage.__doc__)
        with self.assertRaisesRegex(ValueError, "advantage: there are 2"):
            answer.advantage.value
        with self.assertRaisesRegex(KeyError, "no advantage at"):
            answer.advantage.at(time=7)
        with self.assertRaisesRegex(AttributeError, "sideways"):
            answer.kl.sideways
        one = sfumato.quadratic(SOURCE / "examples/quadratic/shift.toml", times=[1.0])
        self.assertEqual((one.advantage.value, one.advantage.claim), (answer.advantage[1].value, "exact"))
        account = sfumato.account(noise_multiplier=1.1, sample_rate=0.01, steps=100, sampler="poisson", adjacency="add_remove",
                                  target_delta=1e-5)
        self.assertEqual(account.epsilon.value, account.epsilon.upper.value)
        self.assertLessEqual(account.epsilon.lower.value, account.epsilon.upper.value)
        self.assertIsInstance(account.epsilon, sfumato.Claimed)
        self.assertEqual(pickle.loads(pickle.dumps(account)).epsilon.renyi.value, account["epsilon_renyi"].value)

    def test_every_number_is_described(self):
        keys = ("command", "name", "attribute", "of", "meaning")
        known = [tuple(quantity[key] for key in keys) for quantity in sfumato._core.quantities()]
        reference = (SOURCE / "docs/json.md").read_text().split("## The numbers of each command")[1].split("\n## ")[0]
        rows = [row for row in reference.splitlines() if row.startswith("| ")][2:]
        listed = [tuple(cell.strip().strip("`").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]) for row in rows]
        self.assertEqual(listed, known)

    def test_design(self):
        expected = command_line("design", "examples/design/differences.csv", "--differences-are", "public", "--form", "full",
                                "--trace", 2)
        differences = np.loadtxt(SOURCE / "examples/design/differences.csv", delimiter=",", skiprows=1)
        answer = sfumato.design(differences, differences_are="public", form="full", trace=2)
        self.assertEqual(numbers(answer.to_dict()), numbers(expected))
        self.assertAlmostEqual(np.trace(answer.matrix), 2.0, places=9)
        copy = pickle.loads(pickle.dumps(answer))
        self.assertEqual(copy.matrix.tolist(), answer.matrix.tolist())
        self.assertRefused(ValueError, "differences_are", lambda: sfumato.design(differences, trace=2))

    def test_report(self):
        answer = sfumato.quadratic(SOURCE / "examples/quadratic/shift.toml")
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            made = sfumato.report([answer, sfumato.bound(SOURCE / "examples/bound/shift.toml")], page, title="Both")
            self.assertIn("Both", page.read_text())
            self.assertTrue((Path(folder) / "report.json").exists())
            self.assertIn("report.html", str(made))
            answer.save(Path(folder) / "one.json")
            sfumato.report(Path(folder) / "one.json", Path(folder) / "again.html")
            self.assertRefused(ValueError, "inputs|nowhere", lambda: sfumato.report(["nowhere.json"], page, force=True))

    def test_what_is_saved_replaces_nothing_unasked(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            source = folder / "shift.toml"
            source.write_text((SOURCE / "examples/quadratic/shift.toml").read_text())
            answer = sfumato.quadratic(source)
            page = folder / "page.html"
            answer.save(page)
            self.assertEqual(page.stat().st_mode & 0o777, 0o600)
            self.assertRefused(FileExistsError, "force=True", lambda: answer.save(page))
            self.assertRefused(OSError, "exists", lambda: sfumato.report(answer, page))
            answer.save(page, force=True)
            (folder / "input.json").symlink_to("shift.toml")
            self.assertRefused(ValueError, "is an input", lambda: answer.save(folder / "input.json", force=True))
            self.assertEqual([p.name for p in folder.iterdir() if "tmp" in p.name], [])


class Functions(TestCase):
    KEYS = dict(times=[0.5, 1.0], seed=3, paths=500, step=0.01)

    def test_as_formulas(self):
        formulas = sfumato.bound("x - x^3", "x - x^3 + 0.1 * cos(x)", 0.5, **self.KEYS)
        functions = sfumato.bound(lambda x: x - x**3, lambda x: x - x**3 + 0.1 * np.cos(x), 0.5, **self.KEYS)
        # Constants are derived of formulas, and nothing is proven of a function: what takes its place in between does not count.
        self.assertTrue(any(r.value.claim == "upper_bound" for r in formulas.results))
        self.assertEqual({r.value.claim for r in functions.results}, {"estimate"})
        for a, b in zip([r for r in formulas.results if r.value.claim == "estimate"], functions.results, strict=True):
            self.assertEqual((a.quantity, a.of), (b.quantity, b.of))
            self.assertAlmostEqual(a.value.value, b.value.value, delta=1e-9 + 1e-6 * abs(a.value.value))
        self.assertIn("drift by a Python function", functions.text(full=True))

    def test_time_and_two_coordinates(self):
        def drift(t, x):
            return np.stack([-x[:, 0], -x[:, 1] + 0 * t], axis=1)

        def drift2(t, x):
            return np.stack([-x[:, 0], -x[:, 1] + 0.1 * np.exp(-t)], axis=1)

        answer = sfumato.bound(drift, drift2, [1.0, 2.0], fokker_planck=False, **self.KEYS)
        formulas = sfumato.bound(["-x1", "-x2 + 0 * t"], ["-x1", "-x2 + 0.1 * exp(-t)"], [1.0, 2.0], fokker_planck=False, **self.KEYS)
        self.assertAlmostEqual(answer.get("kl_forward", time=1.0, by="path_paths").value, formulas.get("kl_forward", time=1.0, by="path_paths").value, places=6)

    def test_noise_by_functions(self):
        answer = sfumato.bound(lambda x: -x, lambda x: -x + 0.1, lambda x: 1 + 0.1 * np.cos(x),
                               sigma_divergence=lambda x: -0.1 * np.sin(x), fokker_planck=False, **self.KEYS)
        formulas = sfumato.bound("-x", "-x + 0.1", "1 + 0.1 * cos(x)", fokker_planck=False, **self.KEYS)
        at = dict(time=1.0, by="path_paths")
        self.assertAlmostEqual(answer.get("kl_forward", **at).value, formulas.get("kl_forward", **at).value, places=6)
        self.assertRefused(ValueError, "sigma_divergence", lambda: sfumato.bound(
            lambda x: -x, lambda x: -x + 0.1, lambda x: 1 + x**2, **self.KEYS))

    def test_exceptions_go_through(self):
        class Mine(Exception):
            pass

        def fails(x):
            raise Mine("of the caller")

        with self.assertRaisesRegex(Mine, "of the caller"):
            sfumato.bound(lambda x: -x, fails, 1.0, **self.KEYS)

    def test_wrong_shapes(self):
        self.assertRefused(ValueError, r"^drift: .*shape \(3,\)", lambda: sfumato.bound(
            lambda x: np.zeros(3), lambda x: -x, 1.0, **self.KEYS))
        for returned, pattern in ((lambda x: np.where(x > 0, np.nan, x), r"^drift2: .*NaN at x = \("), (lambda x: None, "NoneType"),
                                  (lambda x: x * 1j, "complex128"), (lambda x: "x", "str"),
                                  (lambda x: np.ma.masked_greater(x, -9.0), "masked")):
            self.assertRefused(ValueError, pattern, lambda: sfumato.bound(lambda x: -x, returned, 1.0, **self.KEYS))

    def test_one_point_is_not_all(self):
        """What a function makes of the first point alone does not stand for the others; a number does."""
        self.assertRefused(ValueError, r"^drift: .*shape \(1,\) for \d+ points of 1 coordinates", lambda: sfumato.bound(
            lambda x: -x[0], lambda x: -x, 1.0, fokker_planck=False, **self.KEYS))
        keys = dict(fokker_planck=False, **self.KEYS)
        at = dict(time=1.0, by="path_paths")
        constant = sfumato.bound(lambda x: 0.2, lambda x: 0.1, 1.0, **keys).get("kl_forward", **at)
        self.assertAlmostEqual(constant.value, 0.005, places=9)

    def test_times_are_asked_for(self):
        for drift in ("-x", lambda x: -x):
            self.assertRefused(ValueError, "^times: is missing", lambda: sfumato.bound(drift, drift, 1.0))

    def test_arguments_are_the_functions_own(self):
        keys = dict(fokker_planck=False, **self.KEYS)
        at = dict(time=1.0, by="path_paths")
        expected = sfumato.bound(lambda x: -x, lambda x: -x + 0.1, 1.0, **keys).get("kl_forward", **at).value
        kept = []

        def keeps(x):
            kept.append((x[:1], x[:1].copy()))
            return -x

        def writes(x):
            x *= -1
            return x

        for drift in (keeps, writes):
            self.assertEqual(sfumato.bound(drift, lambda x: -x + 0.1, 1.0, **keys).get("kl_forward", **at).value, expected)
        self.assertTrue(all((view == copy).all() for view, copy in kept))
        sfumato.bound(lambda x: x, lambda x: x, 1.0, fokker_planck=False, **self.KEYS)  # x itself as the value

    def test_threads(self):
        expected = sfumato.bound(lambda x: -x, lambda x: -x + 0.1, 1.0, fokker_planck=False, **self.KEYS).get("kl_forward", time=1.0, by="path_paths").value
        found = []

        def work():
            answer = sfumato.bound(lambda x: -x, lambda x: -x + 0.1, 1.0, fokker_planck=False, **self.KEYS)
            found.append(answer.get("kl_forward", time=1.0, by="path_paths").value)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 3)


if __name__ == "__main__":
    unittest.main()
