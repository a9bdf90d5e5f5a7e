import csv
import gc
import pickle
import unittest
import unittest.mock

import numpy as np

import sfumato
from support import SOURCE, TestCase, command_line, numbers

FILE = SOURCE / "examples" / "rows" / "diabetes.csv"


def table():
    with open(FILE, newline="") as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}


class Rows(TestCase):
    KEYS = dict(ridge=1, noise=3000)

    def expected(self):
        return command_line("rows", FILE, "--target", "progression", "--adjacency", "remove", "--loss", "sum", "--ridge", 1,
                            "--noise", 3000)

    def test_same_as_the_command_line(self):
        expected = numbers(self.expected())
        columns = table()
        y = columns["progression"]
        x = np.stack([values for name, values in columns.items() if name != "progression"], axis=1)
        names = [name for name in columns if name != "progression"]
        for answer in (sfumato.rows(FILE, "progression", **self.KEYS),
                       sfumato.rows(columns, "progression", **self.KEYS),
                       sfumato.rows(x, y, columns=names, **self.KEYS)):
            self.assertEqual(numbers(answer.to_dict())[0], expected[0])
        self.assertEqual(numbers(sfumato.rows(columns, "progression", **self.KEYS).to_dict()), expected)

    def test_every_row(self):
        answer = sfumato.rows(table(), "progression", **self.KEYS)
        risks = answer.risks
        self.assertEqual(len(risks["advantage"]), 442)
        self.assertEqual(risks["row"].tolist(), list(range(442)))
        worst = int(np.argmax(risks["advantage"]))
        self.assertEqual(answer.get("advantage", row=worst + 1).value, risks["advantage"][worst])
        self.assertIs(answer.risks, risks)
        for name in ("row", "advantage"):  # views of one memory, which outlives the answer
            self.assertTrue(np.shares_memory(answer._found.columns()[name], risks[name]))
            self.assertFalse(risks[name].flags.writeable)
        kept = sfumato.rows(table(), "progression", **self.KEYS).risks["advantage"]
        gc.collect()
        self.assertEqual(kept.tolist(), risks["advantage"].tolist())
        copy = pickle.loads(pickle.dumps(answer))
        self.assertEqual(copy.risks["advantage"].tolist(), risks["advantage"].tolist())
        self.assertEqual(str(copy), str(answer))

    def test_numbers_are_read_where_they_stand(self):
        """Any stride and order of bytes, names that are numbers, categories that are numbers: as from a file, without one."""
        columns = table()
        expected = sfumato.rows(columns, "progression", **self.KEYS).risks["advantage"].tolist()
        matrix = np.zeros((442, 2 * len(columns)))
        matrix[:, ::2] = np.stack(list(columns.values()), axis=1)
        target = list(columns).index("progression")
        with unittest.mock.patch("tempfile.mkdtemp", side_effect=AssertionError("a file was written")):
            for values in (matrix[:, ::2], np.asfortranarray(matrix[:, ::2]), matrix[:, ::2].astype(">f8"), matrix[::-1, ::2][::-1]):
                found = sfumato.rows(values, target, columns=[str(i) for i in range(len(columns))], **self.KEYS)
                self.assertEqual(found.risks["advantage"].tolist(), expected)
            categories = dict(columns, sex=columns["sex"] > 0)
            texts = dict(columns, sex=["a" if s > 0 else "b" for s in columns["sex"]])
            by_number = sfumato.rows(categories, "progression", categorical=["sex"], **self.KEYS)
            np.testing.assert_allclose(by_number.risks["advantage"], sfumato.rows(texts, "progression", **self.KEYS).risks["advantage"], rtol=1e-9)
        for values in columns.values():
            values.flags.writeable = False
        self.assertEqual(sfumato.rows(columns, "progression", **self.KEYS).risks["advantage"].tolist(), expected)

    def test_noise_of_a_design(self):
        columns = table()
        names = [name for name in columns if name != "progression"]
        differences = np.stack([columns[name][:50] for name in names] + [np.ones(50)], axis=1)
        design = sfumato.design(differences, differences_are="public", trace=33000, form="full")
        answer = sfumato.rows(columns, "progression", ridge=1, noise=design)
        by_parts = sfumato.rows(columns, "progression", ridge=1, noise=design.covariance)
        self.assertEqual(answer.risks["advantage"].tolist(), by_parts.risks["advantage"].tolist())
        by_matrix = sfumato.rows(columns, "progression", ridge=1, noise=design.matrix)
        np.testing.assert_allclose(answer.risks["advantage"], by_matrix.risks["advantage"], rtol=1e-6)

    def test_missing_values(self):
        columns = table()
        columns["bmi"][7] = np.nan
        self.assertRefused(ValueError, "^table: row 7, from 0: .*missing",
                           lambda: sfumato.rows(columns, "progression", **self.KEYS))
        dropped = sfumato.rows(columns, "progression", drop_missing=True, **self.KEYS)
        self.assertEqual(len(dropped.risks["row"]), 441)
        masked = table()
        masked["bmi"] = np.ma.array(masked["bmi"], mask=[i == 7 for i in range(442)])
        self.assertEqual(dropped.risks["advantage"].tolist(), sfumato.rows(
            masked, "progression", drop_missing=True, **self.KEYS).risks["advantage"].tolist())

    def test_refusals(self):
        x = np.arange(12.0).reshape(6, 2)
        self.assertRefused(ValueError, "no column \"z\"", lambda: sfumato.rows({"x": [1, 2], "y": [1, 2]}, "z", noise=1))
        self.assertRefused(ValueError, "^rows: the key `noise` is missing", lambda: sfumato.rows(x, 1))
        self.assertRefused(ValueError, "Did you mean `noise`", lambda: sfumato.rows(x, 1, nois=1))
        self.assertRefused(ValueError, "infinite", lambda: sfumato.rows({"x": [1, np.inf], "y": [1, 2]}, "y", noise=1))
        self.assertRefused(ValueError, "complex", lambda: sfumato.rows(x + 1j, 1, noise=1))
        self.assertRefused(ValueError, "axes", lambda: sfumato.rows(np.zeros(3), 0, noise=1))
        self.assertRefused(ValueError, "no column 5", lambda: sfumato.rows(x, 5, noise=1))
        self.assertRefused(ValueError, "equally long", lambda: sfumato.rows({"x": [1, 2, 3], "y": [1, 2]}, "y", noise=1))
        self.assertRefused(ValueError, "noise", lambda: sfumato.rows(x, 1, noise=np.nan))
        self.assertRefused(ValueError, "^nowhere.csv", lambda: sfumato.rows("nowhere.csv", "y", noise=1))


if __name__ == "__main__":
    unittest.main()
