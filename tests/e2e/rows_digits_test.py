"""Tables of `sfumato rows` that double precision cannot carry."""
import math
import tempfile
import unittest
from pathlib import Path

import numpy as np

from rows_support import table, gaussian_kl, risks


# Firms as a spreadsheet has them: revenue in dollars beside a score of 1 to 10.
FIRMS = """revenue,score,default
1467143887,4,1
721247325,2,1
545561134,9,1
1975826002,9,0
1320992578,9,0
0,10,0
0,1,0
0,3,1
191817782,5,1
843061132,6,1
1189920927,5,1
931975558,7,0
838424939,4,0
808222915,7,0
176279002,1,1
303211833,10,0
1131047493,6,0
1010034362,2,0
1920499565,9,1
558569075,4,1
1712898279,9,0
588575971,3,0
371656824,9,1
450989957,1,0
"""


class Digits(unittest.TestCase):
    """Numbers of tables that nobody standardised; the expected ones were computed with 60 digits."""

    def of(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text(text, encoding="utf-8")
            return risks(["rows", str(path), "--adjacency", "remove", "--loss", "sum", *arguments])

    def test_dollars_beside_scores(self):
        row = self.of(FIRMS, "--target", "default", "--ridge", "1", "--noise", "1", "--time", "0.05")[5]
        for name, truth in (("advantage", 0.18593), ("kl_forward", 0.10838), ("kl_reverse", 0.14942),
                            ("epsilon_forward", 0.4524), ("epsilon_reverse", 5.6146)):
            self.assertAlmostEqual(float(row[name]) / truth, 1.0, delta=2e-4, msg=name)

    def test_a_ratio_of_variances_above_1e12_is_not_infinite(self):
        table = ("a,b,y\n-103.48668047224878,-154.29226795682655,0.11840338375468491\n"
                 "0.09014843366864311,0.18029688640515967,0.10424473064650246\n"
                 "1.9871350630932871,3.974270143019958,-1.6988238692920974\n"
                 "-1.5625145793140787,-3.1250291541305035,1.5807591914516526\n")
        row = self.of(table, "--target", "y", "--ridge", "7.18e-12", "--noise", "1", "--learning-rate",
                      "1.447e-5", "--steps", "inf", "--no-intercept")[0]
        for name in ("kl_forward", "kl_reverse"):
            self.assertTrue(math.isfinite(float(row[name])), name)
        self.assertGreater(float(row["kl_reverse"]), 1e12)

    def test_more_columns_than_rows(self):
        columns = 400
        generator = np.random.default_rng(7)
        x = generator.standard_normal((5, columns))
        y = generator.standard_normal(5)
        text = ",".join(f"f{i}" for i in range(columns)) + ",y\n" + "".join(
            ",".join(repr(float(v)) for v in [*x[i], y[i]]) + "\n" for i in range(5))
        listed = self.of(text, "--target", "y", "--ridge", "1", "--noise", "1", "--no-intercept",
                         "--training", "flow")

        def distribution(x, y):
            a = x.T @ x + np.eye(columns)
            return np.linalg.solve(a, x.T @ y), 0.5 * np.linalg.inv(a)
        for row in range(5):
            keep = np.arange(5) != row
            kl = gaussian_kl(*distribution(x, y), *distribution(x[keep], y[keep]))
            self.assertAlmostEqual(float(listed[row]["kl_forward"]) / kl, 1.0, 6)


if __name__ == "__main__":
    unittest.main()
