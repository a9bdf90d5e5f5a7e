"""The pages of `sfumato report` and `--report` in a browser. Needs Chromium and web/'s packages (tools/setup test). Screenshots and
printed pages stay in BUILD/report-screenshots."""
import json
import math
import shutil
import subprocess
import unittest
from pathlib import Path

from support import ROOT, SFUMATO, ProgramTest, run

CHROMIUM = shutil.which("chromium")
SHOTS = Path(SFUMATO).resolve().parents[1] / "report-screenshots"
LOOK = ROOT / "tests/e2e/browser/look_at_report.mjs"
MOST_SYMBOLS = 24  # of a line; more points get about eight
HOSTILE = "<img src=x onerror=\"window.hacked_img=1\"></script><script>window.hacked_script=1</script>&amp;'\""


def claim(value, kind="exact", **more):
    symbol = {"exact": "=", "upper_bound": "<=", "lower_bound": ">=", "estimate": "~"}[kind]
    return {"value": value, "claim": kind, "symbol": symbol, "method": "", "assumptions": [],
            "confidence": None, **more}


def series(key, x, y, kind="exact", **more):
    about = claim(0, kind)
    del about["value"]
    return {"key": key, "title": key, **about, "x": x, "y": y, **more}


def axis(title, scale="linear", **more):
    return {"title": title, "unit": "", "scale": scale, **more}


def figure(key, mark, axes, *all_series, **more):
    return {"type": "figure", "key": key, "title": key, "mark": mark, "axes": axes,
            "series": list(all_series), **more}


def every_kind_of_figure():
    """A document with each mark, claim and decoration, and markup in every name."""
    epsilons = [0.1 * i for i in range(1, 41)]
    grid = [(x, y) for x in range(5) for y in range(4)]
    layers = ["fc1.weight", "fc1.bias", HOSTILE]
    return {
        "schema_version": 1, "command": "audit", "title": f"Everything {HOSTILE}",
        "provenance": {"sfumato": "0.1.0", f"key {HOSTILE}": f"value {HOSTILE}"},
        "blocks": [
            {"type": "statement", "kind": "info", "text": f"Said: {HOSTILE}"},
            {"type": "statement", "kind": "verdict", "text": f"VIOLATION {HOSTILE}", "outcome": "bad"},
            {"type": "statement", "kind": "warning", "text": f"Careful {HOSTILE}"},
            {"type": "statement", "kind": "assumption", "text": f"Assumed {HOSTILE}"},
            {"type": "table", "key": f"table {HOSTILE}", "title": f"Table {HOSTILE}",
             "columns": [{"key": "name", "title": f"name {HOSTILE}", "unit": HOSTILE},
                         {"key": "value", "title": "value", "unit": "nats"}],
             "rows": [{"name": "b", "value": claim(0.123456789, "upper_bound", method=f"by {HOSTILE}")},
                      {"name": HOSTILE, "value": claim(1e-12, "lower_bound", confidence=0.95)},
                      {"name": "c", "value": claim("inf", "estimate")},
                      {"name": "d", "value": {"value": None, "reason": f"none {HOSTILE}"}},
                      {"name": "e", "value": 3}]},
            figure("sandwich", "line", {"x": axis("epsilon"), "y": axis("delta", "log")},
                   series("proven", epsilons, [math.exp(-e) for e in epsilons], "upper_bound"),
                   series("audited", epsilons, [0.3 * math.exp(-2 * e) for e in epsilons], "lower_bound"),
                   series("truth", epsilons, [0.6 * math.exp(-1.3 * e) for e in epsilons]),
                   caption=f"The truth lies in between. {HOSTILE}"),
            figure("tradeoff", "line", {"x": axis("false-positive rate", "log"), "y": axis("true-positive rate", "log")},
                   series("best attack", [1e-4, 1e-3, 1e-2, 0.1, 1], [1e-3, 1e-2, 0.07, 0.4, 1]),
                   series("audited", [0, 1e-3, 1e-2], [0.1, 4e-3, 0.05], "lower_bound", mark="points",
                          labels=["threshold 3", "threshold 2", HOSTILE],
                          y_intervals={"low": [0.05, 2e-3, 0.03], "high": [0.2, 8e-3, 0.08]})),
            figure("roc", "steps", {"x": axis("false-positive rate", "log", **{"from": 0.005, "to": 1}),
                                    "y": axis("true-positive rate", "log", **{"from": 0.005, "to": 1})},
                   series("allowed", [0.005, 0.1, 1], [0.01, 0.2, 1], "upper_bound", mark="region"),
                   series("attack", [0, 0, 0.1, 1], [0, 0.2, 0.5, 1], "estimate",
                          y_intervals={"low": [0, 0.1, 0.4, 0.9], "high": [0.1, 0.3, 0.6, 1]}),
                   series("tested", [0.1], [0.4], "lower_bound", mark="points",
                          x_intervals={"low": [0.05], "high": [0.1]}, y_intervals={"low": [0.4], "high": [0.5]})),
            figure("coincide", "line", {"x": axis("loss", "log"), "y": axis("advantage")},
                   series("isotropic", [0.1, 0.2, 0.4], [0.8, 0.5, 0.2]), series("per layer", [0.1, 0.2, 0.4], [0.8, 0.5001, 0.2]),
                   series("crossing", [0.1, 0.2, 0.4], [0.8, 0.6, 0.2]), series("other", [0.1, 0.4], [0.3, 0.2])),
            figure("multiples", "line", {"x": axis("loss"), "y": axis("advantage")}, series("isotropic", [1, 2], [3, 4]),
                   series("designed", [1, 2], [2, 3], "estimate", y_intervals={"low": [1, 2], "high": [3, 4]}),
                   series("floored", [1, 2], [2.5, 3.5]), series("isotropic_per_layer_with_a_floor", [1, 2], [2.6, 3.6]),
                   series("anisotropic", [1, 2], [2.7, 3.7]), layout="multiples"),
            figure("ellipse", "line", {"x": axis("first", unit="parameter units"), "y": axis("second", unit="parameter units")},
                   series("designed", [-3, 0, 3, 0, -3], [0, 0.1, 0, -0.1, 0]), series("isotropic", [-1, 0, 1, 0, -1], [0, 1, 0, -1, 0])),
            figure("strips", "points", {"x": axis("loss", "log"), "y": axis("world", categories=["D", "D'"])},
                   series("with", [1, 2, 3], [0, 0, 0]), series("without", [2, 30, 4, 5], [1, 1, 1, 1])),
            figure("losses", "bars", {"x": axis("loss"), "y": axis("models")},
                   series("with the record", [0, 1, 2, 3], [1, 3, 2]),
                   series("without", [0, 1, 2, 3], [1, 2, 3])),
            figure("endless", "bars", {"x": axis("epsilon", "log"), "y": axis("rows")},
                   series("rows", [0, 0.1, 1, "inf"], [4, 8, 1])),
            figure("frontier", "points", {"x": axis("loss", "log"), "y": axis("advantage")},
                   series("isotropic", [0.1, 0.2, 0.4], [0.8, 0.5, 0.2], "estimate",
                          x_intervals={"low": [0.09, 0.19, 0.35], "high": [0.11, 0.22, 0.5]},
                          y_intervals={"low": [0.7, 0.4, 0.1], "high": [0.9, 0.6, 0.3]},
                          labels=["sigma^2 = 0.001", "0.01", "0.1"]),
                   series("designed", [0.1, 0.2, 0.4], [0.5, 0.3, 0.1], "estimate")),
            figure("ranked", "points", {"x": axis("rank", "log"), "y": axis("advantage")},
                   series("row", list(range(1, 41)), [0.17, 0.1699, 0.161] + [0.16 - 0.004 * i for i in range(37)],
                          labels=[f"row {100 + i}" for i in range(40)])),
            figure("noises", "points", {"x": axis("direction"), "y": axis("advantage")},
                   series("noise", [1, 2, 3, 4], [0.5, 0.17, 0.05, 0.01], labels=["noise 0.1", "noise 1", "noise 2", "noise 4"])),
            figure("noise plane", "plane", {"x": axis("x"), "y": axis("y"), "z": axis("KL", "log")},
                   series("forward", [p[0] for p in grid], [p[1] for p in grid], z=[1 + p[0] * p[1] for p in grid]),
                   series("reverse", [p[0] for p in grid], [p[1] for p in grid], z=[2 + p[0] + p[1] for p in grid]),
                   series("best", [2], [1], mark="points", labels=[HOSTILE])),
            figure("layers", "columns", {"x": axis("layer", categories=layers), "y": axis("share of the noise")},
                   series("isotropic", [0, 1, 2], [0.6, 0.1, 0.3]),
                   series("anisotropic", [0, 1, 2], [0.2, 0.5, 0.3], "estimate",
                          y_intervals={"low": [0.1, 0.4, 0.2], "high": [0.3, 0.6, 0.4]})),
            figure("numbers", "points", {"x": axis("", categories=["batch 500", "batch 1000"]), "y": axis("number", "log")},
                   series("paper", [0, 1], [0.07, 0.11]),
                   series("reading", [0, 1], [0.06, 0.2], "estimate", y_intervals={"low": [0.05, 0.1], "high": [0.07, 0.4]})),
            figure("pixels", "image", {"x": axis("column"), "y": axis("row"), "z": axis("mean variance")},
                   series("fc1", [i % 6 for i in range(36)], [i // 6 for i in range(36)], z=[i * i for i in range(36)])),
            figure("infinite", "line", {"x": axis("t", "log"), "y": axis("KL", "log")},
                   series("kl", [0, 1, 2, "inf"], [1, 2, "inf", 3], "upper_bound")),
            figure("empty", "line", {"x": axis("t"), "y": axis("KL")}),
        ],
    }


def number(value):
    return {"inf": math.inf, "-inf": -math.inf}.get(value, value)


def drawable(fig, item):
    """The points of a series that finite and logarithmic axes can show."""
    def fits(value, about):
        value = max(number(value), about.get("from", -math.inf))  # what is below an axis that says where it begins is at its edge
        return math.isfinite(value) and (about["scale"] != "log" or value > 0)
    axes = fig["axes"]
    return [i for i in range(len(item["y"])) if fits(item["x"][i], axes["x"]) and fits(item["y"][i], axes["y"])
            and ("z" not in item or fits(item["z"][i], axes["z"]))]


def drawn(fig, item):
    """Of these the ones within twelve decades of the largest of the figure."""
    points = drawable(fig, item)
    for key in "xy":
        if fig["axes"][key]["scale"] == "log":
            largest = max((s[key][i] for s in fig["series"] for i in drawable(fig, s)), default=0)
            least = max(largest * 1e-12, fig["axes"][key].get("from", 0))
            points = [i for i in points if max(item[key][i], fig["axes"][key].get("from", 0)) >= least]
    return points


def symbols_along(index, points):
    """All of a short line, about eight of a long one."""
    if points <= MOST_SYMBOLS:
        return points
    step = math.ceil(points / 8)
    first = math.floor(step * (index % 4 + 0.5) / 4)
    return len([i for i in range(points) if i % step == first])


def panels_of(fig):
    """How many drawings a figure has."""
    if fig.get("layout") == "multiples" and len(fig["series"]) > 2:
        return len(fig["series"]) - 1
    return max(1, len([s for s in fig["series"] if s.get("mark", fig["mark"]) in ("plane", "image")]))


def is_rates(fig):
    return fig["key"].startswith(("roc", "tradeoff", "trade_off"))


def expected_marks(fig):
    """How many lines, symbols and rectangles a figure consists of."""
    marks = {"lines": 0, "dots": 0, "rects": 0}
    panels = panels_of(fig)
    for index, item in enumerate(fig["series"]):
        mark = item.get("mark", fig["mark"])
        if mark == "bars":
            marks["rects"] += len(item["y"])
            continue
        points = len(drawn(fig, item))
        times = panels if "z" in fig["axes"] or (fig.get("layout") and index == 0) else 1
        if mark in ("columns", "image"):
            marks["rects"] += points
        if mark == "points":
            marks["dots"] += points * times  # a plane's points are in each of its panels
            if is_rates(fig) and "x_intervals" in item and "y_intervals" in item:
                marks["rects"] += points
        if mark in ("steps", "region") and points:
            marks["lines"] += 1
        if mark == "line" and points:
            marks["lines"] += times * (2 if "z" in fig["axes"] else 1)  # over a plane with a rim
            if "z" not in fig["axes"]:
                marks["dots"] += times * symbols_along(index, points)
    return marks


@unittest.skipUnless(CHROMIUM, "Debian's chromium is not installed and tools/setup could not install it")
class Browser(ProgramTest):
    def look(self, name, document, *how):
        source = self.write(f"{name}_input.json", json.dumps(document))
        page = self.dir / f"{name}.html"
        made = run("report", source, "--out", page)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.size = page.stat().st_size
        self.twin = json.loads((self.dir / f"{name}.json").read_text())
        looked = subprocess.run(["node", LOOK, page, SHOTS, *how], capture_output=True, text=True, timeout=300,
                                check=False)
        self.assertEqual(looked.returncode, 0, looked.stderr + "\nIs everything installed? tools/setup test")
        return json.loads(looked.stdout)

    def check(self, seen):
        """What holds for every page."""
        self.assertEqual(seen["console"], [])
        self.assertEqual({url.split(":")[0] for url in seen["requests"]} - {"blob", "data"}, {"file"})
        self.assertEqual(len({url for url in seen["requests"] if url.startswith("file:")}), 1)
        self.assertEqual(seen["accessibility"], {"light": [], "dark": [], "phone": []})
        self.assertEqual(seen["overflow"], {"light": 0, "dark": 0, "phone": 0})
        self.assertEqual(seen["cutCaptions"], [], "captions of tables that end beyond the screen of a phone")
        folds = seen["folds"]
        self.assertEqual((folds["printed"], folds["after"]), (0, folds["before"]), "paper shows what is folded")
        self.assertTrue(all(rows == 1 for rows in seen["printedRows"]), "small multiples in one row on paper")
        for table in seen["printed"]:  # Chromium leaves boxes of buttons out of heads on the next page
            self.assertEqual(set(table["heads"]) - {"contents"}, set())
            self.assertEqual(table["breaks"], "avoid" if table["rows"] < 16 else "auto")
        self.assertLess(self.size, 2_000_000)
        self.assertLess(min(seen["openMilliseconds"]), 3000)
        self.assertEqual(json.loads(seen["data"]), self.twin)
        blocks = [b for chapter in self.twin["chapters"] for b in chapter["blocks"]]
        self.check_figures(seen, [b for b in blocks if b["type"] == "figure"])
        self.check_tables(seen, [b for b in blocks if b["type"] == "table"])

    def check_figures(self, seen, figures):
        self.assertEqual([f["key"] for f in seen["figures"]], [f["key"] for f in figures])
        for found, fig in zip(seen["figures"], figures):
            with self.subTest(fig["key"]):
                self.assertFalse(found["missing"], "built without Node.js: run tools/setup and build again")
                self.assertEqual(found["series"], len(fig["series"]))
                marks = expected_marks(fig)
                self.assertEqual({k: found[k] for k in marks}, marks)
                fields = [s for s in fig["series"] if s.get("mark", fig["mark"]) == "plane"]
                panels = panels_of(fig)
                self.assertEqual(found["panels"], panels)
                self.assertEqual(found["emptyTicks"], 0, "ticks without their number")
                self.assertEqual(found["overlappingTicks"], [], "numbers on one another")
                self.assertEqual(found["coveredNames"], [], "names on points or on one another")
                self.assertEqual(found["legends"], 1 if "z" in fig["axes"] else 0)
                if fields:
                    self.assertGreaterEqual(found["contours"], 3 * panels)
                named = fig["axes"]["x"].get("categories", [])
                self.assertEqual(found["categories"][:1], named[:1])
                titles = found["titles"][1:] if named else \
                    found["titles"][:1] if "categories" in fig["axes"]["y"] else found["titles"]
                for title in titles:
                    self.assertTrue(any(label.startswith(title) for label in found["labels"]), (title, found["labels"]))
                self.assertGreaterEqual(found["ticks"], 2)
                heights = [y for s in fig["series"] for y in s["y"]]
                if fig["mark"] == "bars" and all(isinstance(y, (int, float)) and y == round(y) for y in heights):
                    self.assertTrue(found["upTicks"] and all(t.isdigit() for t in found["upTicks"]), found["upTicks"])

    def check_tables(self, seen, tables):
        self.assertEqual([t["key"] for t in seen["tables"]], [t["key"] for t in tables])
        for found, table in zip(seen["tables"], tables):
            self.assertEqual(len(found["rows"]), len(table["rows"]))
            for cells, row in zip(found["rows"], table["rows"]):
                for cell, column in zip(cells, table["columns"]):
                    self.check_cell(cell, row[column["key"]])

    def check_cell(self, cell, twin):
        is_claim = isinstance(twin, dict) and twin["value"] is not None
        value = twin["value"] if is_claim else twin
        if isinstance(value, dict) or value is None:
            self.assertTrue(cell["text"].startswith("–"), cell)
            return
        if isinstance(value, str) and value not in ("inf", "-inf"):
            self.assertEqual(cell["text"], value)
            return
        self.assertEqual(float(cell["value"]), float(value))
        kind = twin["claim"] if is_claim else "exact"
        symbol = {"exact": "=", "upper_bound": "≤", "lower_bound": "≥", "estimate": "~"}[kind]
        self.assertEqual(cell["claim"], symbol if is_claim else None)
        shown = cell["shown"]
        if shown.startswith("1 - "):
            shown = 1 - float(shown[4:])
        shown = float(shown.replace("∞", "inf")) if isinstance(shown, str) else shown
        if kind == "upper_bound":
            self.assertGreaterEqual(shown, float(value))
        if kind == "lower_bound":
            self.assertLessEqual(shown, float(value))
        if math.isfinite(shown):
            self.assertAlmostEqual(shown, float(value), delta=2e-3 * abs(float(value)))

    def test_every_kind_of_figure_and_hostile_names(self):
        document = every_kind_of_figure()
        seen = self.look("everything", document)
        self.check(seen)
        self.assertEqual(seen["globals"], [])
        self.assertEqual(seen["elements"], {"img": 0, "scripts": 3, "iframes": 0})
        self.assertEqual(seen["title"], document["title"])
        # Title, three statements, assumption, table title, cell, unit, notes, caption, label and provenance.
        self.assertGreaterEqual(seen["text"].count(HOSTILE), 12)
        figures = {f["key"]: f for f in seen["figures"]}
        self.assertEqual(figures["sandwich"]["areas"], 2)  # what the two bounds rule out
        self.assertEqual(figures["roc"]["regions"], 1)  # what the claim allows
        self.assertEqual(figures["roc"]["square"], [1])
        self.assertEqual(figures["tradeoff"]["square"], [1])
        self.assertIn("These curves coincide: isotropic; per layer.", figures["coincide"]["notes"])
        # What others are compared with is grey, in the drawing and in the legend.
        for key in ("coincide", "multiples", "frontier"):
            self.assertEqual(figures[key]["greys"], ["isotropic"], key)
        self.assertEqual(figures["multiples"]["panelTitles"][0], "designed")
        self.assertEqual(figures["ellipse"]["pixelsPerUnit"], [1])  # a circle is one
        # One row of small panels, however long a name is.
        self.assertEqual((figures["multiples"]["panels"], figures["multiples"]["panelRows"]), (4, 1))
        self.assertEqual(figures["sandwich"]["legend"], ["≤ proven", "≥ audited", "= truth"])  # names, no more
        self.assertGreaterEqual(figures["frontier"]["rules"], 6)
        self.assertEqual([f["key"] for f in seen["figures"] if f["coveredTitles"]], [])
        self.assertIn("row 100", figures["ranked"]["names"])  # the first is named
        self.assertEqual(len(figures["noises"]["names"]), 4)  # of few all are
        self.assertEqual(figures["noises"]["acrossTicks"], ["1", "2", "3", "4"])  # no halves of directions
        self.assertIn("3 values are infinite", figures["infinite"]["left_out"])
        self.assertIn("1 value is infinite", figures["tradeoff"]["left_out"])
        self.assertIsNone(figures["losses"]["left_out"])

    def test_marks_of_direction_turn_nothing_around(self):
        turned = "\u202etxt.evil\u2066"
        document = {
            "schema_version": 1, "command": "audit", "title": turned, "provenance": {},
            "blocks": [figure("curves", "line", {"x": axis(turned), "y": axis(turned)},
                              series("a", [1, 2], [3, 4], labels=[turned, turned]), series("b", [1, 2], [4, 3]),
                              title=turned, caption=turned),
                       figure("bars", "columns", {"x": axis(turned, categories=[turned, "b"]), "y": axis(turned)},
                              series("a", [0, 1], [3, 4]))]}
        for drawn in document["blocks"]:
            for line in drawn["series"]:
                line["title"] = turned
        seen = self.look("turned", document)
        self.assertEqual(seen["overrides"], 0)
        self.assertGreater(seen["text"].count(r"\u{202e}txt.evil\u{2066}"), 5)

    def test_a_page_can_be_used(self):
        document = json.loads(run("quadratic", "examples/quadratic/shift.toml", "--json").stdout)
        seen = self.look("quadratic", document)
        self.check(seen)
        kl = next(b for b in document["blocks"] if b.get("key") == "kl_over_time")
        self.assertIn("KL (nats): = 0.01355", seen["keyboardTip"])  # the first point, at t = 0.1
        self.assertIn("KL (nats): = ", seen["hoverTip"])
        self.assertEqual(seen["svg"]["name"], "kl_over_time.svg")
        for words in ("KL(D‖D′)", "nats", 'width="3.25in"', 'font-size="10.6667px"'):  # a column, letters of 8 pt
            self.assertIn(words, seen["svg"]["text"])
        self.assertEqual(seen["pdf"]["name"], "kl_over_time.pdf")
        self.assertTrue(seen["pdf"]["text"].startswith("%PDF-1.4") and seen["pdf"]["text"].endswith("%%EOF\n"))
        self.assertIn("/MediaBox [0 0 234 ", seen["pdf"]["text"])  # 3.25 in
        self.assertIn("closed form", seen["methods"])
        self.assertNotIn("var(--", seen["svg"]["text"])
        self.assertEqual(seen["png"]["signature"], "89504e470d0a1a0a")
        self.assertEqual(seen["numberRows"], sum(len(s["x"]) for s in kl["series"]))
        self.assertEqual(seen["order"]["ascending"], sorted(seen["order"]["before"], key=str.lower))
        self.assertEqual(seen["order"]["descending"], seen["order"]["ascending"][::-1])
        self.assertTrue(seen["copied"].startswith("quantity\tD\tD'\n"))
        for words in (r"\begin{tabular}", r"\toprule", "quantity & ", r"\bottomrule"):
            self.assertIn(words, seen["latex"])
        self.assertGreater(seen["math"], 0)

    def test_the_commands(self):
        """What each command prints looks right in a page."""
        commands = {
            "rows": ("rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss",
                     "sum", "--ridge", "1", "--noise", "1", "--standardise", "examples/rows/public.csv"),
            "bound": ("bound", "examples/bound/unequal_noise.toml", "--times", "0.5,1,2"),
            "design": ("design", "examples/design/differences.csv", "--differences-are", "public", "--form", "full",
                       "--trace", "2"),
            "audit": ("audit", "--logits", "examples/audit/logits.npy", "--membership", "examples/audit/membership.npy",
                      "--unit", "models"),
            "train": ("train", "examples/train/quick.toml", "--set", "train.iterations=40", "--set",
                      "train.gradient_differences=true"),
        }
        for name, arguments in commands.items():
            with self.subTest(name):
                document = json.loads(run(*arguments, "--json").stdout)
                for block in document["blocks"]:  # what a figure shows, in a sentence
                    if block["type"] == "figure":
                        self.assertRegex(block.get("caption", ""), r"\.$", block["key"])
                self.check(self.look(name, document, "look"))

    def test_a_violation_is_seen(self):
        """The claim, the attack and what is bounded stand in the same two figures; the verdict says whose it is."""
        made = run("audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv", "--unit", "models",
                   "--claim", "eps=1.0,delta=1e-5", "--json")
        document = json.loads(made.stdout)
        seen = self.look("violation", document, "look")
        self.check(seen)
        figures = {b["key"]: b for b in document["blocks"] if b["type"] == "figure"}
        drawn_figures = {f["key"]: f for f in seen["figures"]}
        roc = {s["key"]: s for s in figures["roc"]["series"]}
        least = figures["roc"]["axes"]["x"]["from"]
        members = next(iter(b for b in document["blocks"] if b.get("key") == "tests"))["rows"][0]["positives"]
        self.assertLessEqual(least, 1 / (2 * members))
        self.assertEqual(drawn_figures["roc"]["square"], [1])
        self.assertEqual(drawn_figures["roc"]["regions"], 1)
        # The corner that the bound is made of is outside of what the claim allows: that is the violation.
        factor, delta = math.e, 1e-5
        for fpr, tpr in list(zip(roc["tested"]["x"], roc["tested"]["y"]))[:1]:
            self.assertGreater(tpr, min(delta + factor * fpr, 1 - (1 - delta - fpr) / factor))
        deltas = {s["key"]: s for s in figures["deltas"]["series"]}
        self.assertEqual(set(deltas), {"claim", "audited", "maximum"})
        self.assertTrue(any(a > c for a, c in zip(deltas["audited"]["y"], deltas["claim"]["y"])))
        self.assertTrue(all(a <= m for a, m in zip(deltas["audited"]["y"], deltas["maximum"]["y"])))
        for words in ("Does this training reveal more about one record", "The claim is false: with 95\xa0% confidence", "Do not publish"):
            self.assertIn(words, seen["text"])

    def test_chapters_number_their_figures(self):
        source = json.loads(run("quadratic", "examples/quadratic/shift.toml", "--json").stdout)
        first, second = self.write("a.json", json.dumps(source)), self.write("b.json", json.dumps(source))
        page = self.dir / "two.html"
        self.assertEqual(run("report", first, second, "--out", page).returncode, 0)
        html = page.read_text()
        for label in ("Figure 1.1.", "Figure 2.1.", "Table 1.1.", "Table 2.1."):
            self.assertIn(label, html)
        self.assertNotIn("Figure 1. ", html)

    def test_the_paper(self):
        run("reproduce", "--only", "figure1,figure2,figure3", "--out", self.dir / "paper")
        page = self.dir / "paper.html"
        made = run("report", self.dir / "paper", "--out", page)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.size = page.stat().st_size
        self.twin = json.loads((self.dir / "paper.json").read_text())
        looked = subprocess.run(["node", LOOK, page, SHOTS, "look"], capture_output=True, text=True, timeout=300,
                                check=False)
        self.assertEqual(looked.returncode, 0, looked.stderr)
        seen = json.loads(looked.stdout)
        self.check(seen)
        self.assertLess(seen["heights"]["light"], 5500)  # three chapters: the whole has 12,000
        # The best noise is one of those that the text names; both names are seen.
        names = next(found["names"] for found in seen["figures"] if found["key"] == "figure1_S10_10_privacy_cost")
        self.assertEqual(sorted(names), ["(4, 1)", "(4, 3)", "(4, 4)", "best", "best", "best"])


if __name__ == "__main__":
    unittest.main()
