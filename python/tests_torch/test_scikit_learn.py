"""The estimators as scikit-learn wants them: its own checks, and its tools around them."""

import warnings

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_decision_proba_consistency, check_estimator

import sfumato
from support import unittest

# Checks that suppose what a private estimator must not do.
CANNOT = {
    "check_classifiers_classes": "its labels are not declared; reading them off y would tell of the records",
    "check_classifiers_train": "supposes three classes and then two under one declaration",
    "check_decision_proba_consistency": "supposes that two labels in y are two classes; six are declared (checked with two below)",
}


def data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (3000, 2))
    return x, x @ [1.0, -2.0]


class ScikitLearn(unittest.TestCase):
    def failures(self, estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check_estimator(estimator, expected_failed_checks=CANNOT, on_fail=None, on_skip=None)
        passed = [result for result in found if result["status"] == "passed"]
        self.assertGreater(len(passed), 40)
        return {result["check_name"]: repr(result["exception"]) for result in found if result["status"] == "failed"}

    def test_checks_of_a_regressor(self):
        estimator = sfumato.PrivateRidge(bounds=(-10, 10), target_bounds=(-500, 500), records=1000, accept_useless=True, random_state=0)
        self.assertEqual(self.failures(estimator), {})

    def test_checks_of_a_classifier(self):
        # One check wants ten records of one class to be learnt: at epsilon 1 the noise would decide.
        estimator = sfumato.PrivateLogisticRegression(10, bounds=(-10, 10), classes=tuple(range(-1, 5)), records=1000, accept_useless=True, random_state=0)
        self.assertEqual(self.failures(estimator), {})
        check_decision_proba_consistency("two classes", estimator.set_params(classes=(0, 1)))

    def test_tools(self):
        x, y = data()
        ridge = sfumato.PrivateRidge(3, bounds=[(-1, 1)] * 2, target_bounds=(-4, 4), records=3000)
        self.assertTrue(is_regressor(ridge) and not is_classifier(ridge))
        self.assertEqual(clone(ridge).get_params(), ridge.get_params())
        self.assertGreater(cross_val_score(make_pipeline(FunctionTransformer(), ridge), x, y, cv=3).min(), 0.8)
        search = GridSearchCV(ridge, {"fit_intercept": [True, False]}, cv=2).fit(x, y)
        self.assertIsNotNone(search.best_estimator_.guarantee_)
        logistic = sfumato.PrivateLogisticRegression(3, bounds=(-1, 1), records=3000)
        self.assertTrue(is_classifier(logistic))
        self.assertGreater(cross_val_score(logistic, x, (y > 0).astype(int), cv=3).min(), 0.85)
        with self.assertRaises(NotFittedError):
            logistic.predict(x)

    def test_names_of_columns(self):
        import pandas
        import polars
        import pyarrow

        x, y = data()
        frame = pandas.DataFrame(x, columns=["target", "dose"])
        for given in (polars.DataFrame({"target": x[:, 0], "dose": x[:, 1]}), pyarrow.table({"target": x[:, 0], "dose": x[:, 1]}), frame):
            model = sfumato.PrivateRidge(3, bounds=(-1, 1), target_bounds=(-4, 4), records=3000).fit(given, y)
            self.assertEqual(list(model.feature_names_in_), ["target", "dose"])
            self.assertGreater(model.score(given, y), 0.8)
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            model.predict(frame[["dose", "target"]])


if __name__ == "__main__":
    unittest.main()
