"""`sfumato rows` for ridge regression: every number against formulas in NumPy."""
import math
import unittest

import numpy as np

from rows_support import PUBLIC, OTHER, BASE, table, gaussian_kl, risks
from support import run


class Numbers(unittest.TestCase):
    def check(self, arguments, distribution, tolerance=1e-7):
        """Every row's KL both ways against distributions rebuilt from the table without it."""
        x, y = table()
        m, v = distribution(x, y)
        listed = risks(arguments)
        self.assertEqual(len(listed), len(y))
        for row in range(0, len(y), 20):
            keep = np.arange(len(y)) != row
            m2, v2 = distribution(x[keep], y[keep])
            for key, expected in (("kl_forward", gaussian_kl(m, v, m2, v2)),
                                  ("kl_reverse", gaussian_kl(m2, v2, m, v))):
                got = float(listed[row][key])
                self.assertLess(abs(got - expected), tolerance * expected + 1e-10, (row, key))

    def test_stationary_sum(self):
        def distribution(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y), 0.5 * 2.0 * np.linalg.inv(a)
        self.check(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "2", "--training", "flow"],
                   distribution)

    def test_the_mean_divides_by_the_rows_of_the_table(self):
        n = len(table()[1])

        def distribution(x, y):
            a = x.T @ x / n + 0.1 * np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y / n), 0.5 * 0.01 * np.linalg.inv(a)
        self.check(BASE + ["--adjacency", "remove", "--loss", "mean", "--ridge", "0.1",
                           "--noise", "0.01", "--training", "flow"], distribution)

    def test_finite_time(self):
        time = 0.02
        def distribution(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            values, q = np.linalg.eigh(a)
            decay = np.exp(-values * time)
            star = np.linalg.solve(a, x.T @ y)
            return star - q @ (decay * (q.T @ star)), q @ np.diag((1 - decay**2) / (2 * values)) @ q.T
        self.check(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1",
                           "--time", str(time)], distribution)

    def test_chain_step_by_step(self):
        eta, noise = 1e-3, 2.0
        def distribution(x, y, steps):
            a = x.T @ x + np.eye(x.shape[1])
            step = np.eye(len(a)) - eta * a
            m, v = np.zeros(len(a)), np.zeros_like(a)
            for _ in range(steps):
                m, v = step @ m + eta * (x.T @ y), step @ v @ step + eta * noise * np.eye(len(a))
            return m, v
        base = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", str(noise),
                       "--learning-rate", str(eta), "--steps"]
        self.check(base + ["30"], lambda x, y: distribution(x, y, 30))
        # The slowest direction contracts by 0.999 or less per step: 20,000 steps are the long run.
        x, y = table()
        keep = np.arange(len(y)) != 40
        a, b = distribution(x, y, 20000), distribution(x[keep], y[keep], 20000)
        listed = risks(base + ["inf"])
        self.assertAlmostEqual(float(listed[40]["kl_forward"]) / gaussian_kl(*a, *b), 1.0, 6)
        self.assertEqual(listed[40]["claim"], "exact")

    def test_release_is_a_gaussian_mechanism(self):
        x, y = table()
        a = x.T @ x + np.eye(x.shape[1])
        m = np.linalg.solve(a, x.T @ y)
        listed = risks(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1",
                               "--noise", "1e-4", "--release"])
        for row in range(0, len(y), 20):
            keep = np.arange(len(y)) != row
            m2 = np.linalg.solve(a - np.outer(x[row], x[row]), x[keep].T @ y[keep])
            mu = np.linalg.norm(m2 - m) / 1e-2
            self.assertAlmostEqual(float(listed[row]["kl_forward"]) / (mu * mu / 2), 1.0, places=6)
            self.assertAlmostEqual(float(listed[row]["advantage"]), math.erf(mu / math.sqrt(8)), 9)
            self.assertEqual(listed[row]["claim"], "exact")

    def test_replace(self):
        x, y = table()
        constants = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
        other = (np.loadtxt(OTHER, delimiter=",", skiprows=1) - constants[0]) / constants[1]
        def distribution(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y), 0.5 * np.linalg.inv(a)
        m, v = distribution(x, y)
        listed = risks(BASE + ["--adjacency", "replace", "--with", OTHER, "--loss", "sum",
                               "--ridge", "1", "--noise", "1", "--training", "flow"])
        for row in range(0, len(y), 20):
            x2, y2 = x.copy(), y.copy()
            x2[row], y2[row] = np.append(other[:-1], 1.0), other[-1]
            m2, v2 = distribution(x2, y2)
            expected = gaussian_kl(m, v, m2, v2)
            self.assertLess(abs(float(listed[row]["kl_forward"]) - expected), 1e-7 * expected + 1e-10)

    def test_threads_do_not_change_a_digit(self):
        arguments = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1", "--training", "flow"]
        self.assertEqual(risks(arguments + ["--threads", "1"]), risks(arguments + ["--threads", "4"]))


if __name__ == "__main__":
    unittest.main()
