"""What the equal-privacy study makes beforehand: the adult table in numbers, and covariances from a public sample that is in nobody's D."""
import csv
import gzip
import lzma
import os
import shutil
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = 1000  # public records: the last of the test set, which no method is tested on
FASHION_MEAN, FASHION_DEVIATION = 0.2860, 0.3530
CIFAR_MEANS, CIFAR_DEVIATIONS = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def data_folders():
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sfumato"
    return [Path(os.environ.get("SFUMATO_DATA", "/nowhere")), cache, Path("/usr/share/datasets")]


def missing(task):
    """Why a task cannot be run here, or nothing. Of CIFAR-10 the program reads the files that are there, and the plan is for all records."""
    if task.startswith("cifar"):
        wanted = [f"cifar-10-batches-bin/data_batch_{n}.bin" for n in range(1, 6)]
    else:
        wanted = ["tables/adult.csv.gz" if task == "adult" else "fashion-mnist/train-images-idx3-ubyte.gz"]
    for file in wanted:
        if not any((folder / name).exists() for folder in data_folders() for name in (file, file + ".xz")):
            return f"{file} is in none of {[str(folder) for folder in data_folders()]}"
    return None


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


def cifar_images():
    """The public sample of CIFAR-10, channels first, standardised as the program does."""
    name = "cifar-10-batches-bin/test_batch.bin"
    for folder in data_folders():
        for path, opened in ((folder / name, open), (folder / (name + ".xz"), lzma.open)):
            if path.exists():
                with opened(path, "rb") as file:
                    rows = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)[-SAMPLE:, 1:]
                images = rows.reshape(-1, 3, 32, 32) / 255.0
                return (images - np.array(CIFAR_MEANS)[:, None, None]) / np.array(CIFAR_DEVIATIONS)[:, None, None]
    raise SystemExit("CIFAR-10 is not there: sfumato data get cifar10")


def patches(images, size, stride, padding):
    """What a convolution sees of images, one row for each position."""
    images = np.pad(images, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    steps = range(0, images.shape[2] - size + 1, stride)
    return np.concatenate([images[:, :, i:i + size, j:j + size].reshape(len(images), -1) for i in steps for j in steps])


def scattering(pooling, features):
    """Scattering features of the public sample, as a run of the program has kept them."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sfumato/features"
    for path in sorted(cache.glob("*.f4")):
        with open(path, "rb") as file:
            head = file.readline().decode()
            if f"pooling {pooling}," in head and path.stat().st_size == len(head) + 4 * 10000 * features and "scattering" in head:
                return np.fromfile(file, np.float32).reshape(-1, features)[-SAMPLE:].astype(float)
    return None


def moments_row(name, inputs):
    """Eigenvalues of second moments as the table under "Why" has them; the gain is that of Spec §22.4 at lam = 1."""
    h = np.maximum(np.sort(np.linalg.eigvalsh(inputs.T @ inputs / len(inputs)))[::-1], 0.0)
    held = np.cumsum(h) / h.sum()
    gain = h.sum() * (h / (h + 1) ** 2).sum() / (h / (h + 1)).sum() ** 2
    ratio = float(f"{h[0] / np.median(h):.2g}")
    return (f"| {name} | {len(h)} | {100 * h[0] / h.sum():.0f} % | {np.searchsorted(held, 0.9) + 1} ({np.searchsorted(held, 0.99) + 1}) | "
            f"{ratio:,.0f} | {gain:.1f} |")


def moments(work):
    """The rows of that table, from the public sample."""
    work.mkdir(parents=True, exist_ok=True)
    prepare_adult(work)
    pixels = public_inputs("fashion_softmax", work)
    rows = [("adult", public_inputs("adult", work)), ("Fashion-MNIST pixels", pixels), ("Fashion-MNIST scattering", scattering(3, 729)),
            ("CIFAR-10 scattering", scattering(4, 972)), ("Fashion-MNIST, patches of 8 x 8", patches(pixels.reshape(-1, 1, 28, 28), 8, 3, 2)),
            ("CIFAR-10, patches of 5 x 5", patches(cifar_images(), 5, 3, 2))]
    return [moments_row(name, inputs) if inputs is not None else f"| {name} | no run has kept these features yet |" for name, inputs in rows]


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
