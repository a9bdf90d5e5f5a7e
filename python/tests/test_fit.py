import csv
import json
import pickle
import tempfile
import unittest
from pathlib import Path

import numpy as np

import sfumato
from support import SOURCE, TestCase, command_line, numbers

WAGES = SOURCE / "examples" / "fit"


class Fit(TestCase):
    KEYS = dict(model="ridge", target_epsilon=3, target_delta=1e-6)

    def test_same_as_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            expected = command_line("fit", WAGES / "wages.csv", "--bounds", WAGES / "wages_bounds.csv", "--model", "ridge",
                                    "--target-epsilon", 3, "--target-delta", 1e-6, "--seed", 7, "--out", path)
            model = json.loads(path.read_text())
        by_file = sfumato.fit(WAGES / "wages.csv", bounds=WAGES / "wages_bounds.csv", seed=7, **self.KEYS)
        with open(WAGES / "wages.csv", newline="") as file:
            rows = list(csv.reader(file))
        columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
        for name, values in columns.items():
            try:
                columns[name] = np.array([float(value) for value in values])
            except ValueError:
                pass  # a category
        by_table = sfumato.fit(columns, bounds=WAGES / "wages_bounds.csv", seed=7, **self.KEYS)
        for answer in (by_file, by_table):
            self.assertEqual(numbers(answer.to_dict())[0], numbers(expected)[0])
            self.assertEqual({key: answer.model[key] for key in ("coef_", "intercept_", "columns", "guarantee")},
                             {key: model[key] for key in ("coef_", "intercept_", "columns", "guarantee")})
        self.assertEqual(by_file.model, model)

    def test_files_and_arrays(self):
        answer = sfumato.fit(WAGES / "wages.csv", bounds=WAGES / "wages_bounds.csv", **self.KEYS)
        self.assertLessEqual(answer.guarantee.epsilon.value, 3 + 1e-9)
        self.assertEqual(answer.guarantee.epsilon.claim, "upper_bound")
        self.assertIn("differential privacy", answer.statement)
        copy = pickle.loads(pickle.dumps(answer))
        self.assertEqual((copy.model, copy.statement, copy.guarantee), (answer.model, answer.statement, answer.guarantee))
        with tempfile.TemporaryDirectory() as folder:
            answer.save_model(Path(folder) / "model.json")
            self.assertEqual(json.loads((Path(folder) / "model.json").read_text())["format"], "sfumato.fit/2")

    def test_a_saved_model_is_not_lost(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            table, model = folder / "table.csv", folder / "model.json"
            table.write_text((WAGES / "wages.csv").read_text())
            ask = dict(bounds=WAGES / "wages_bounds.csv", **self.KEYS)
            answer = sfumato.fit(table, **ask)
            self.assertRefused(FileExistsError, "force=True", lambda: answer.save_model(table))
            self.assertRefused(ValueError, "is an input", lambda: answer.save_model(table, force=True))
            self.assertRefused(ValueError, "is an input", lambda: pickle.loads(pickle.dumps(answer)).save_model(table, force=True))
            answer.save_model(model)
            self.assertEqual(model.stat().st_mode & 0o777, 0o600)
            answer.save_model(model, force=True)  # the same one
            kept = model.read_text()
            for other in (sfumato.fit(table, seed=1, **ask), sfumato.fit(table, **ask)):
                self.assertRefused(ValueError, "account of", lambda: other.save_model(model, force=True))
                self.assertRefused(ValueError, "is a model with a guarantee", lambda: answer.save(model, force=True))
            self.assertEqual(model.read_text(), kept)
            after = sfumato.fit(table, after=model, **(ask | dict(target_epsilon=6)))
            after.save_model(model, force=True)
            self.assertNotEqual(model.read_text(), kept)

    def test_a_seed_voids_the_guarantee(self):
        rng = np.random.default_rng(0)
        x = rng.uniform(-1, 1, 2000)
        table = dict(x=x, y=x + 0.1 * rng.normal(size=2000))
        keys = dict(bounds={"x": (-1, 1), "y": (-2, 2)}, records=2500, adjacency="add_remove", seed=5, **self.KEYS)
        one, two = sfumato.fit(table, "y", **keys), sfumato.fit(table, "y", **keys)
        self.assertIsNone(one.guarantee)
        self.assertEqual(one.statement, "")
        self.assertEqual(one.model["coef_"], two.model["coef_"])

    def test_refusals(self):
        table = dict(x=np.zeros(9), y=np.zeros(9))
        bounds = {"x": (-1, 1), "y": (-2, 2)}
        self.assertRefused(ValueError, "^fit: the key `bounds` is missing", lambda: sfumato.fit(table, "y", **self.KEYS))
        self.assertRefused(ValueError, "records|rows|exceed", lambda: sfumato.fit(
            table, "y", bounds=bounds, records=5, adjacency="add_remove", accept_useless=True, **self.KEYS))
        self.assertRefused(ValueError, "useless", lambda: sfumato.fit(
            table, "y", bounds=bounds, records=10, adjacency="add_remove", model="ridge", target_epsilon=1e-4, target_delta=1e-6))


    def test_two_numbers_are_a_range(self):
        x = np.linspace(-1, 1, 500)
        table = dict(x=x, y=2 * x)
        keys = dict(records=500, adjacency="add_remove", seed=1, accept_useless=True, **self.KEYS)
        by_tuple = sfumato.fit(table, "y", bounds={"x": (-1, 1), "y": (-2, 2)}, **keys)
        by_list = sfumato.fit(table, 1, bounds={"x": [-1, 1], "y": np.array([-2.0, 2.0])}, **keys)
        self.assertEqual(by_tuple.model["coef_"], by_list.model["coef_"])
        del keys["adjacency"]  # a record more or less, as everywhere in Python
        found = sfumato.fit(table, "y", bounds={"x": (-1, 1), "y": (-2, 2)}, **keys)
        self.assertEqual(found.model["coef_"], by_tuple.model["coef_"])
        self.assertRefused(ValueError, "^bounds: of column", lambda: sfumato.fit(table, "y", bounds={"x": 1, "y": (-2, 2)}, **keys))
        self.assertRefused(ValueError, "^target: there is no column 7", lambda: sfumato.fit(table, 7, bounds={}, **keys))


    def test_missing_values_contribute_nothing(self):
        rng = np.random.default_rng(3)
        x, kind = rng.uniform(-1, 1, 3000), rng.choice(["a", "b"], 3000)
        y = x + (kind == "b") + 0.1 * rng.normal(size=3000)
        x[::7] = np.nan
        kind = [None if i % 11 == 0 else one for i, one in enumerate(kind.tolist())]
        keys = dict(bounds={"x": (-1, 1), "kind": ["a", "b"], "y": (-3, 3)}, records=3000, seed=1, holdout=0, **self.KEYS)
        there = [i for i in range(3000) if i % 7 and i % 11]
        whole = sfumato.fit(dict(x=x, kind=kind, y=y), "y", **keys)
        complete = sfumato.fit(dict(x=x[there], kind=[kind[i] for i in there], y=y[there]), "y", **keys)
        self.assertEqual(whole.model, complete.model)
        self.assertEqual([column["missing"] for column in whole.model["columns"]], ["drop", "drop"])
        told = sfumato.fit(dict(x=x, kind=kind, y=y), "y", missing="indicator", **keys)
        self.assertEqual(told.model["feature_names_in_"], ["x", "x=(missing)", "kind=b", "kind=(missing)"])
        self.assertRefused(ValueError, "^missing: \"mean\" is no rule for missing values", lambda: sfumato.fit(dict(x=x, y=y), "y", missing="mean", **keys))

    def test_delta_is_compared_with_the_records(self):
        x = np.linspace(-1, 1, 500)
        keys = dict(bounds={"x": (-1, 1), "y": (-2, 2)}, records=500, model="ridge", target_epsilon=3, target_delta=0.01, accept_useless=True)
        self.assertRefused(ValueError, "^target_delta: delta = 0.01 is above 1 / 500 records", lambda: sfumato.fit(dict(x=x, y=2 * x), "y", **keys))
        sfumato.fit(dict(x=x, y=2 * x), "y", allow_large_delta=True, **keys)
        run = dict(noise_multiplier=1.0, batch_size=10, records=1000, steps=10)
        self.assertRefused(ValueError, "^delta: 0.01 is above 1 / 1000 records", lambda: sfumato.epsilon(delta=0.01, **run))
        self.assertLess(sfumato.epsilon(delta=0.01, allow_large_delta=True, **run).value, 1.0)


class Estimators(TestCase):
    def data(self, count=3000):
        rng = np.random.default_rng(1)
        x = rng.uniform(-1, 1, (count, 3))
        return x, x @ [1.0, -2.0, 0.5] + 0.3 + 0.1 * rng.normal(size=count)

    def test_ridge(self):
        x, y = self.data()
        model = sfumato.PrivateRidge(3, bounds=[(-1, 1)] * 3, target_bounds=(-4, 4), records=3500).fit(x, y)
        self.assertGreater(model.score(x, y), 0.8)
        self.assertEqual(model.coef_.shape, (3,))
        self.assertLessEqual(model.guarantee_.epsilon.value, 3 + 1e-9)
        copy = pickle.loads(pickle.dumps(model))
        self.assertEqual(copy.predict(x).tolist(), model.predict(x).tolist())
        self.assertEqual(sfumato.PrivateRidge(**model.get_params()).set_params(epsilon=2).epsilon, 2)
        self.assertRefused(ValueError, "no such parameter", lambda: model.set_params(eps=2))
        self.assertRefused(ValueError, "^target_bounds", lambda: sfumato.PrivateRidge(bounds=[(-1, 1)] * 3, records=9).fit(x, y))
        self.assertRefused(ValueError, "^bounds and records", lambda: sfumato.PrivateRidge(target_bounds=(0, 1)).fit(x, y))
        self.assertRefused(ValueError, "not fitted", lambda: sfumato.PrivateRidge().predict(x))

    def test_logistic(self):
        x, y = self.data()
        labels = np.where(y > 0.3, "sick", "well")
        model = sfumato.PrivateLogisticRegression(3, bounds=[(-1, 1)] * 3, classes=("well", "sick"), records=3500).fit(x, labels)
        self.assertGreater(model.score(x, labels), 0.85)
        self.assertEqual(model.predict_proba(x[:4]).shape, (4, 2))
        self.assertEqual(list(model.classes_), ["well", "sick"])
        self.assertRefused(ValueError, "none of the classes", lambda: model.fit(x, np.where(y > 0, "ill", "well")))
        self.assertIn("epsilon", model._repr_html_())

    def test_softmax(self):
        x, y = self.data()
        labels = np.digitize(y, [-0.5, 1.0])
        model = sfumato.PrivateLogisticRegression(8, bounds=(-1, 1), classes=(0, 1, 2), records=3500).fit(x, labels)
        self.assertGreater(model.score(x, labels), 0.6)
        self.assertEqual(model.predict_proba(x[:4]).shape, (4, 3))
        np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)

    def test_wrong_inputs(self):
        x, y = self.data(30)
        model = sfumato.PrivateRidge(3, bounds=(-1, 1), target_bounds=(-4, 4), records=30, accept_useless=True)
        wrong = x.copy()
        wrong[4, 1] = np.nan
        self.assertRefused(ValueError, "^X: contains NaN, first in row 4, column 1", lambda: model.fit(wrong, y))
        self.assertRefused(ValueError, "^X: has masked", lambda: model.fit(np.ma.masked_less(x, 0), y))
        self.assertRefused(ValueError, "^X: has 1 axes", lambda: model.fit(x[0], y))
        self.assertRefused(ValueError, "^y: has 29", lambda: model.fit(x, y[1:]))
        self.assertRefused(ValueError, "^bounds: 2 ranges for 3", lambda: model.set_params(bounds=[(-1, 1)] * 2).fit(x, y))


if __name__ == "__main__":
    unittest.main()
