"""Libraries that people have beside it: data frames, JAX, PyTorch, tqdm."""

import datetime
import decimal
import io
import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import polars
import pyarrow

import sfumato
from support import torch, unittest

jax.config.update("jax_enable_x64", True)


class Frames(unittest.TestCase):
    def test_data_frames(self):
        rng = np.random.default_rng(0)
        columns = {"a": rng.normal(size=30), "b": rng.integers(0, 5, 30), "y": rng.normal(size=30)}
        expected = sfumato.rows(columns, "y", noise=1).risks["advantage"].tolist()
        frame = pandas.DataFrame(columns, index=[f"patient {i}" for i in range(30)])
        answer = sfumato.rows(frame, "y", noise=1)
        self.assertEqual(answer.risks["advantage"].tolist(), expected)
        self.assertEqual(answer.to_pandas().index[0], "patient 0")
        for other in (polars.DataFrame(columns), pyarrow.table(columns), pandas.DataFrame(columns).convert_dtypes()):
            self.assertEqual(sfumato.rows(other, "y", noise=1).risks["advantage"].tolist(), expected)
        frame["a"] = frame["a"].astype("Float64")
        frame.loc["patient 3", "a"] = pandas.NA
        with self.assertRaisesRegex(ValueError, "^table: row 3"):
            sfumato.rows(frame, "y", noise=1)
        self.assertEqual(len(answer.to_pandas()), 30)
        self.assertIn("claim", sfumato.quadratic(d=dict(A=1, minimiser=0, Sigma=2), d_prime=dict(minimiser=0.1), times=[1.0])
                      .to_pandas().columns)
        self.assertGreater(len(next(iter(answer.tables.values())).to_pandas()), 0)

    def test_kinds_of_columns(self):
        rng = np.random.default_rng(0)
        group = rng.choice(["a", "b"], 40)
        plain = {"x": rng.normal(size=40), "flag": (group == "a").astype(float), "y": rng.normal(size=40)}
        expected = sfumato.rows(plain, "y", noise=1).risks["advantage"].tolist()
        for flag in (polars.Series(group == "a"), pandas.Series(group == "a"), pandas.array(group == "a", dtype="boolean"),
                     [decimal.Decimal(int(g == "a")) for g in group], pyarrow.chunked_array([(group == "a").astype("int8")])):
            self.assertEqual(sfumato.rows(dict(plain, flag=flag), "y", noise=1).risks["advantage"].tolist(), expected)
        texts = sfumato.rows(dict(plain, flag=group), "y", noise=1).risks["advantage"].tolist()
        for flag in (polars.Series(group, dtype=polars.Categorical), pandas.Categorical(group), pandas.Series(group, dtype="string")):
            self.assertEqual(sfumato.rows(dict(plain, flag=flag), "y", noise=1).risks["advantage"].tolist(), texts)
        for missing in (polars.Series([None] + [True] * 39), pandas.Series([None] + [True] * 39), pyarrow.array([None] + [1.0] * 39)):
            with self.assertRaisesRegex(ValueError, "^table: row 0, from 0: .*missing"):
                sfumato.rows(dict(plain, flag=missing), "y", noise=1)
        with self.assertRaisesRegex(ValueError, "^flag: has dates"):
            sfumato.rows(dict(plain, flag=pandas.date_range(datetime.date(2026, 1, 1), periods=40)), "y", noise=1)
        with self.assertRaisesRegex(ValueError, "2\\^53"):
            sfumato.rows(dict(plain, flag=np.arange(40) + 2**60), "y", noise=1)


class Functions(unittest.TestCase):
    """Drifts by other libraries: the same numbers as by NumPy."""

    KEYS = dict(times=[1.0], paths=500, step=0.01, fokker_planck=False, seed=3)

    def value(self, drift, drift2):
        return sfumato.bound(drift, drift2, 1.0, **self.KEYS).get("kl_forward", by="path_paths").value

    def test_jax(self):
        expected = self.value(lambda x: -np.sin(x), lambda x: -np.sin(x) + 0.1)
        drift = jax.jit(lambda x: -jnp.sin(x))
        found = self.value(drift, jax.jit(lambda x: -jnp.sin(x) + 0.1))
        self.assertAlmostEqual(found, expected, delta=1e-12)
        potential = jax.vmap(jax.grad(lambda x: jnp.cos(x).sum()))  # a drift by differentiation
        self.assertAlmostEqual(self.value(potential, lambda x: potential(x) + 0.1), expected, delta=1e-12)
        # Arrays of JAX may share the memory of x: what it keeps stays as it was.
        kept = []
        self.value(lambda x: (kept.append((jnp.asarray(x), x.copy())), -jnp.asarray(x))[1], drift)
        self.assertTrue(all((np.asarray(a) == b).all() for a, b in kept))

    def test_torch(self):
        expected = self.value(lambda x: -np.sin(x), lambda x: -np.sin(x) + 0.1)
        drift = lambda x: -torch.sin(torch.from_numpy(x))  # noqa: E731
        self.assertAlmostEqual(self.value(drift, lambda x: drift(x) + 0.1), expected, delta=1e-12)
        layer = torch.nn.Linear(1, 1, dtype=torch.float64)  # its results need gradients
        self.assertGreater(self.value(lambda x: layer(torch.from_numpy(x)), lambda x: layer(torch.from_numpy(x)) + 0.1), 0)
        single = self.value(lambda x: drift(x).float(), lambda x: drift(x).float() + 0.1)
        self.assertAlmostEqual(single, expected, delta=1e-5)

    def test_scores(self):
        scores = np.linspace(0, 1, 50)
        expected = sfumato.audit(scores + 5, scores).epsilon
        for kind in (torch.tensor, jnp.asarray, pandas.Series, polars.Series, pyarrow.array):
            self.assertEqual(sfumato.audit(kind(scores + 5), kind(scores)).epsilon, expected, kind)
        with self.assertRaisesRegex(ValueError, "^in_scores: is no array"):
            sfumato.audit(torch.tensor(scores, requires_grad=True), scores)


class Progress(unittest.TestCase):
    def test_a_bar_of_tqdm(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            sfumato.bound("-x", "-x + 0.1", 1.0, times=[1.0], paths=100000, step=0.001, fokker_planck=False, progress=True)
        self.assertIn("%|", shown.getvalue())


if __name__ == "__main__":
    unittest.main()
