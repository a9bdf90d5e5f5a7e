#!/usr/bin/env python3
"""Membership of the records of one model, by Privacy Meter and by `sfumato audit`.

  python -m venv meter && meter/bin/pip install numpy==1.26.4 scikit-learn scipy matplotlib jinja2 && meter/bin/pip install --no-deps privacy-meter==1.0.1
  meter/bin/python bench/peers/membership.py [PROGRAM]        (default: build/bin/sfumato)

privacy-meter 1.0.1 declares no dependencies, and imports TensorFlow, PyTorch and Opacus wherever it is imported. The model here is
scikit-learn's, so that none of the three is called: empty modules stand in for them.
"""
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

STAND_INS = ("tensorflow", "torch", "opacus")
for name in STAND_INS:
    sys.modules[name] = types.ModuleType(name)
sys.modules["opacus"].GradSampleModule = None
sys.modules["torch"].Tensor = type("Tensor", (), {})  # SciPy asks every array whether it is one

from privacy_meter.audit import Audit, MetricEnum
from privacy_meter.constants import InferenceGame
from privacy_meter.dataset import Dataset
from privacy_meter.hypothesis_test import linear_itp_threshold_func
from privacy_meter.information_source import InformationSource
from privacy_meter.information_source_signal import ModelLoss
from privacy_meter.model import Model

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/bin/sfumato"
SEED, CANDIDATES, WRONG = 1, 600, 0.3


class Losses(Model):
    """What Privacy Meter asks of a model, by scikit-learn."""

    def __init__(self, model):
        super().__init__(model, None)

    def get_logits(self, batch_samples):
        return np.log(np.maximum(self.model_obj.predict_proba(batch_samples), 1e-30))

    def get_loss(self, batch_samples, batch_labels, per_point=True):
        logits = self.get_logits(batch_samples)
        losses = -logits[np.arange(len(batch_labels)), batch_labels]
        return losses if per_point else losses.mean()

    def get_grad(self, batch_samples, batch_labels):
        raise NotImplementedError

    def get_intermediate_outputs(self, layers, batch_samples, forward_pass=True):
        raise NotImplementedError


rng = np.random.default_rng(SEED)
x, y = load_digits(return_X_y=True)
order = rng.permutation(len(x))
x, y = x[order] / 16.0, y[order].copy()
# A third of the candidates has a wrong label: a model can only memorise those.
wrong = rng.random(CANDIDATES) < WRONG
y[:CANDIDATES][wrong] = (y[:CANDIDATES][wrong] + rng.integers(1, 10, CANDIDATES)[wrong]) % 10
member = rng.random(CANDIDATES) < 0.5  # a fair coin for each, which the audit rests on
inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
others = np.arange(CANDIDATES, len(x))
network = MLPClassifier((100,), alpha=0.0, max_iter=500, random_state=SEED, tol=0.0, n_iter_no_change=500)
network.fit(x[inside], y[inside])
model = Losses(network)


def split(rows):
    return {"x": x[rows], "y": y[rows]}


def seconds(work):
    start = time.process_time()
    value = work()
    return value, time.process_time() - start


def privacy_meter(directory):
    target = Dataset({"train": split(inside), "test": split(outside)}, "x", "y")
    reference = Dataset({"train": split(others)}, "x", "y")
    audit = Audit(
        metrics=MetricEnum.POPULATION, inference_game_type=InferenceGame.PRIVACY_LOSS_MODEL,
        target_info_sources=InformationSource(models=[model], datasets=[target]),
        reference_info_sources=InformationSource(models=[model], datasets=[reference]),
        fpr_tolerances=None, logs_directory_names=[directory], save_logs=True)
    audit.prepare()
    return audit.run()[0]


with tempfile.TemporaryDirectory() as folder:
    result, took = seconds(lambda: privacy_meter(folder))
    result = result[0] if isinstance(result, list) else result
    print(f"Privacy Meter 1.0.1: AUC {float(np.max(result.roc_auc)):.4f}, largest accuracy {float(np.max(result.accuracy)):.4f}, {took:.2f} s of processor time")
    for name, rows in (("in", inside), ("out", outside)):
        np.savetxt(Path(folder) / f"{name}.csv", model.get_loss(x[rows], y[rows]), header="loss", comments="")
    print(f"AUC of the same losses: {roc_auc_score(member, -model.get_loss(x[:CANDIDATES], y[:CANDIDATES])):.4f}")
    start = time.perf_counter()
    audit = subprocess.run(
        [PROGRAM, "audit", "--members", f"{folder}/in.csv", "--nonmembers", f"{folder}/out.csv", "--unit", "records", "--larger-means", "nonmember",
         "--randomised", "--claim", "eps=1,delta=1e-5"], capture_output=True, text=True, check=False)
    print(f"sfumato audit, {time.perf_counter() - start:.2f} s, exit code {audit.returncode}:\n{audit.stdout}{audit.stderr}")
