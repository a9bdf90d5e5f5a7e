"""What the suites of `sfumato rows` share: the example tables, and formulas in NumPy."""
import csv
import os
import tempfile

import numpy as np

from support import ROOT, run

DIABETES = str(ROOT / "examples/rows/diabetes.csv")
PUBLIC = str(ROOT / "examples/rows/public.csv")
OTHER = str(ROOT / "examples/rows/other.csv")
BASE = ["rows", DIABETES, "--target", "progression", "--standardise", PUBLIC]
CANCER = str(ROOT / "examples/rows/breast_cancer.csv")
CANCER_PUBLIC = str(ROOT / "examples/rows/breast_cancer_public.csv")
LOGISTIC = ["rows", CANCER, "--target", "malignant", "--model", "logistic", "--standardise", CANCER_PUBLIC,
            "--features", "radius_mean,texture_mean,smoothness_mean"]


def table():
    rows = np.loadtxt(DIABETES, delimiter=",", skiprows=1)
    constants = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
    scaled = (rows - constants[0]) / constants[1]
    return np.column_stack([scaled[:, :-1], np.ones(len(rows))]), scaled[:, -1]


def labelled_table():
    with open(CANCER, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with open(CANCER_PUBLIC, newline="", encoding="utf-8") as stream:
        centre, scale = csv.DictReader(stream)
    names = ["radius_mean", "texture_mean", "smoothness_mean"]
    x = [[(float(r[n]) - float(centre[n])) / float(scale[n]) for n in names] + [1.0] for r in rows]
    return np.array(x), np.array([float(r["malignant"]) for r in rows])


def logistic_minimiser(x, y, ridge):
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w))
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + ridge * w)
    return w


def gaussian_kl(m, v, m2, v2):
    inverse = np.linalg.inv(v2)
    gap = m2 - m
    return 0.5 * (np.linalg.slogdet(v2)[1] - np.linalg.slogdet(v)[1] - len(m)
                  + np.trace(inverse @ v) + gap @ inverse @ gap)


def risks(arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "risks.csv")
        result = run(*arguments, "--out", out)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(out, newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))
