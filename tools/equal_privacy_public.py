"""What the equal-privacy study makes beforehand: the adult table in numbers, and covariances from a public sample that is in nobody's D."""
import csv
import gzip
import os
import shutil
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = 1000  # public records: the last of the test set, which no method is tested on
FASHION_MEAN, FASHION_DEVIATION = 0.2860, 0.3530


def data_folders():
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sfumato"
    return [Path(os.environ.get("SFUMATO_DATA", "/nowhere")), cache, Path("/usr/share/datasets")]


def missing(task):
    """Why a task cannot be run here, or nothing."""
    wanted = {"adult": "tables/adult.csv.gz", "cifar_cnn": "cifar-10-batches-bin", "cifar_scattering": "cifar-10-batches-bin"}.get(
        task, "fashion-mnist/train-images-idx3-ubyte.gz")
    return None if any((folder / wanted).exists() for folder in data_folders()) else f"{wanted} is in none of {data_folders()}"


def adult_rows():
    """Features and class of every row: a column for each declared level of a category, numbers scaled to 0 .. 1 by declared bounds."""
    with open(ROOT / "studies/fit/adult.csv", newline="") as file:
        declared = [row for row in csv.DictReader(file) if not row["column"].startswith("(")]
    path = next(folder / "tables/adult.csv.gz" for folder in data_folders() if (folder / "tables/adult.csv.gz").exists())
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for column in declared:
        texts = [row[column["column"]].strip() for row in rows]
        if column["kind"] == "numeric":
            low, high = float(column["low"]), float(column["high"])
            columns.append(np.clip((np.array([float(text) for text in texts]) - low) / (high - low), 0, 1))
        elif column["kind"] == "category":
            columns += [np.array([text == level for text in texts], float) for level in column["levels"].split("|")]
        else:
            label = np.array([text == column["levels"].split("|")[1] for text in texts], float)
    return np.column_stack(columns + [label])


def prepare_adult(work):
    if (work / "adult_public.npy").exists():
        return
    table = adult_rows()
    order = np.random.default_rng(0).permutation(len(table))
    train, rest = table[order[:26049]], table[order[26049:]]
    for name, rows in (("train", train), ("test", rest[:-SAMPLE]), ("public", rest[-SAMPLE:])):
        np.save(work / f"adult_{name}.npy", rows)


def public_inputs(task, work):
    """The inputs of the public sample, as the network sees them."""
    if task == "adult":
        return np.load(work / "adult_public.npy")[:, :-1]
    for folder in data_folders():
        path = folder / "fashion-mnist/t10k-images-idx3-ubyte.gz"
        if path.exists():
            with gzip.open(path) as file:
                pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[-SAMPLE:]
            return (pixels / 255.0 - FASHION_MEAN) / FASHION_DEVIATION
    raise SystemExit("Fashion-MNIST is not there")


def covariance(task, spec, method, path, work):
    """Variances of the noise in proportion to the root of the inputs' second moments (Spec §23.2: the shape for plain descent), the same for all
    outputs of the first layer; later layers and biases get the mean. low_rank adds as much again along the mean input of the sample."""
    inputs = public_inputs(task, work)
    root = np.sqrt((inputs ** 2).mean(0) + 1e-4)
    layers = spec["layers"]
    parts, first = [], True
    for d, outputs in zip(layers, layers[1:]):
        parts.append(np.repeat(root if first else np.full(d, root.mean()), outputs))
        parts.append(np.full(outputs, root.mean()))
        first = False
    diagonal = np.concatenate(parts)
    if method == "whitened":
        np.savez(path, variances=diagonal)
        return
    mean = inputs.mean(0) / np.linalg.norm(inputs.mean(0)) * np.sqrt(root.mean())
    factor = np.zeros((len(diagonal), layers[1]))
    for n in range(layers[1]):
        factor[np.arange(layers[0]) * layers[1] + n, n] = mean
    np.savez(path, diagonal=diagonal, factor=factor)


def prepare(task, spec, method, studies, work):
    """The study file, with what it needs beside it."""
    work.mkdir(parents=True, exist_ok=True)
    study = studies / f"{task}.toml"
    if task == "adult":
        prepare_adult(work)
        shutil.copy(study, work / study.name)
        study = work / study.name
    if method in ("whitened", "low_rank"):
        path = work / f"{task}_{method}.npz"
        if not path.exists():
            covariance(task, spec, method, path, work)
    return study
