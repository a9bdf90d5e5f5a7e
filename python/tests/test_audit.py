import pickle
import unittest

import numpy as np

import sfumato
from support import SOURCE, TestCase, command_line, numbers


class Audit(TestCase):
    def scores(self, name):
        return np.loadtxt(SOURCE / "examples" / "audit" / name, delimiter=",", skiprows=1)

    def test_same_as_the_command_line(self):
        expected = command_line("audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv",
                                "--unit", "models", "--claim", "eps=1.0,delta=1e-5")
        files = sfumato.audit(SOURCE / "examples/audit/in.csv", SOURCE / "examples/audit/out.csv", claim=(1, 1e-5))
        arrays = sfumato.audit(self.scores("in.csv"), self.scores("out.csv"), claim=(1, 1e-5))
        for answer in (files, arrays):
            self.assertEqual(numbers(answer.to_dict()), numbers(expected))
            self.assertEqual(answer.verdict, "violated")
        self.assertEqual(arrays.epsilon.claim, "lower_bound")
        self.assertEqual(arrays.epsilon.confidence, 0.95)
        self.assertGreater(arrays.maximum.value, arrays.epsilon.value)
        self.assertEqual(arrays.to_dict(), pickle.loads(pickle.dumps(arrays)).to_dict())

    def test_layouts_of_arrays(self):
        inside, outside = self.scores("in.csv"), self.scores("out.csv")
        expected = sfumato.audit(inside, outside).epsilon
        strided = np.zeros((len(inside), 3))
        strided[:, 1] = inside
        fortran = np.asfortranarray(np.stack([inside, inside[::-1]], axis=1))[:, 0]
        for view in (strided[:, 1], fortran, inside[::-1][::-1], inside.astype(">f8"), inside.tolist(), np.ma.array(inside)):
            self.assertEqual(sfumato.audit(view, outside).epsilon, expected)
        self.assertEqual(sfumato.audit(inside.astype(np.float32).astype(float), outside).epsilon,
                         sfumato.audit(inside.astype(np.float32), outside).epsilon)

    def test_one_run(self):
        expected = command_line("audit", "--members", "examples/audit/canaries_in.csv", "--nonmembers",
                                "examples/audit/canaries_out.csv", "--unit", "records", "--randomised")
        answer = sfumato.audit(self.scores("canaries_in.csv"), self.scores("canaries_out.csv"), unit="records",
                               randomised=True)
        self.assertEqual(numbers(answer.to_dict()), numbers(expected))

    def test_layout_of_lira(self):
        expected = command_line("audit", "--logits", "examples/audit/logits.npy", "--membership",
                                "examples/audit/membership.npy", "--unit", "records")
        answer = sfumato.audit(logits=np.load(SOURCE / "examples/audit/logits.npy"),
                               membership=np.load(SOURCE / "examples/audit/membership.npy"), unit="records")
        self.assertEqual(numbers(answer.to_dict()), numbers(expected))
        self.assertIsNone(answer.epsilon)

    def test_plan(self):
        self.assertEqual(sfumato.plan_audit((3, 1e-5), runs=100).verdict, "open")
        self.assertEqual(sfumato.plan_audit((3, 1e-5), runs=10000).verdict, "none")

    def test_refusals(self):
        good = [0.0, 1.0, 2.0]
        self.assertRefused(ValueError, "^in_scores: .*nan", lambda: sfumato.audit([0.0, np.nan], good))
        self.assertRefused(ValueError, "^out_scores: is missing", lambda: sfumato.audit(good))
        self.assertRefused(ValueError, "masked", lambda: sfumato.audit(np.ma.array(good, mask=[0, 1, 0]), good))
        self.assertRefused(ValueError, "complex", lambda: sfumato.audit(np.array(good) * 1j, good))
        self.assertRefused(ValueError, "axes", lambda: sfumato.audit(np.zeros((2, 2, 2)), good))
        self.assertRefused(ValueError, "no array|type", lambda: sfumato.audit([[1.0], [1.0, 2.0]], good))
        self.assertRefused(ValueError, "in_scores", lambda: sfumato.audit(good, good))
        self.assertRefused(ValueError, "^in_scores: has texts", lambda: sfumato.audit(["a", "b"], good))
        self.assertRefused(ValueError, "digits", lambda: sfumato.audit(np.array(good, dtype=np.longdouble), good))
        self.assertRefused(ValueError, "2.53", lambda: sfumato.audit(np.array([2**60, 3]), good))
        self.assertRefused(ValueError, "^claim: a dict", lambda: sfumato.audit(good, [1.0, 5.0], claim={"eps": 1}))
        self.assertRefused(ValueError, "claim", lambda: sfumato.audit(good, [1.0, 5.0], claim=(1, 2, 3)))
        self.assertRefused(ValueError, "confidence", lambda: sfumato.audit(good, [1.0, 5.0], confidence=2))

    def test_page(self):
        answer = sfumato.audit(self.scores("in.csv"), self.scores("out.csv"), claim=(1, 1e-5))
        self.assertIn("<!doctype html>", answer.to_html().lower())
        self.assertTrue(answer._repr_html_().startswith("<iframe"))
        self.assertNotIn("sfumato-", answer.to_json())
        self.assertNotIn("--full", str(answer))
        title, line = str(answer).splitlines()[:2]
        self.assertEqual(line, "=" * len(title))  # underlined as it is named here


if __name__ == "__main__":
    unittest.main()
