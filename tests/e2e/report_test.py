"""`sfumato report`: what the page says, and that it says it in a browser. Needs Chromium and web/'s packages
(tools/setup test). Screenshots and printed pages stay in BUILD/report-screenshots."""
import json
import math
import shutil
import subprocess
import unittest
from pathlib import Path

from support import BAD_INPUT, ROOT, SFUMATO, USAGE, ProgramTest, run

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
            figure("noise plane", "plane", {"x": axis("x"), "y": axis("y"), "z": axis("KL", "log")},
                   series("forward", [p[0] for p in grid], [p[1] for p in grid], z=[1 + p[0] * p[1] for p in grid]),
                   series("reverse", [p[0] for p in grid], [p[1] for p in grid], z=[2 + p[0] + p[1] for p in grid]),
                   series("best", [2], [1], mark="points", labels=[HOSTILE])),
            figure("layers", "columns", {"x": axis("layer", categories=layers), "y": axis("share of the noise")},
                   series("isotropic", [0, 1, 2], [0.6, 0.1, 0.3]),
                   series("anisotropic", [0, 1, 2], [0.2, 0.5, 0.3], "estimate",
                          y_intervals={"low": [0.1, 0.4, 0.2], "high": [0.3, 0.6, 0.4]})),
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
        value = number(value)
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
            points = [i for i in points if item[key][i] >= largest * 1e-12]
    return points


def expected_marks(fig):
    """How many lines, symbols and rectangles a figure consists of."""
    marks = {"lines": 0, "dots": 0, "rects": 0}
    panels = max(1, len([s for s in fig["series"] if s.get("mark", fig["mark"]) in ("plane", "image")]))
    for index, item in enumerate(fig["series"]):
        mark = item.get("mark", fig["mark"])
        if mark == "bars":
            marks["rects"] += len(item["y"])
            continue
        points = len(drawn(fig, item))
        if mark in ("columns", "image"):
            marks["rects"] += points
        if mark == "points":
            marks["dots"] += points * panels  # a plane's points are in each of its panels
        if mark == "line" and points:
            marks["lines"] += 1
            if points <= MOST_SYMBOLS:
                marks["dots"] += points
            else:
                step = math.ceil(points / 8)
                first = math.floor(step * (index % 4 + 0.5) / 4)
                marks["dots"] += len([i for i in range(points) if i % step == first])
    return marks


class Command(ProgramTest):
    def quadratic(self):
        return run("quadratic", "examples/quadratic/shift.toml", "--json").stdout

    def report(self, name, text, *more):
        source = self.write(f"{name}_input.json", text)
        page = self.dir / f"{name}.html"
        result = run("report", source, "--out", page, *more)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return page

    def test_page_and_json_hold_the_document(self):
        text = self.quadratic()
        page = self.report("risk", text)
        twin = json.loads((self.dir / "risk.json").read_text())
        self.assertEqual(twin["chapters"], [json.loads(text)])
        html = page.read_text()
        embedded = html.split('id="report-data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(embedded), twin)
        for words in ("A record that shifts the minimiser", "Assumptions and limits", "Provenance", "Glossary",
                      "57.2 % of the time", "2023-11-14 22:13 UTC"):
            self.assertIn(words, html)

    def test_a_report_can_be_made_again_from_its_json(self):
        page = self.report("risk", self.quadratic())
        first = page.read_bytes()
        result = run("report", self.dir / "risk.json", "--out", page, "--force")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(page.read_bytes(), first)

    def test_natural_names(self):
        """x.json becomes x.html: what was read is never replaced, and the page holds the JSON."""
        text = self.quadratic()
        source = self.write("x.json", text)
        page = self.dir / "x.html"
        done = run("report", source, "--out", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(source.read_text(), text)
        embedded = page.read_text().split('id="report-data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(embedded)["chapters"], [json.loads(text)])
        self.assertNotIn("x.json", done.stdout)

    def test_a_file_is_told_by_its_first_bytes(self):
        """A file larger than any report, with holes: it is not read as a whole to find out."""
        large = self.write("large.bin", "nothing of ours")
        with large.open("r+b") as file:
            file.truncate(300 << 20)
        self.assert_refused(BAD_INPUT, ["large.bin", "neither JSON nor a ledger"], "report", large, "--out", self.dir / "l.html")

    def test_several_inputs_are_chapters(self):
        source = self.write("a.json", self.quadratic())
        audit = run("audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv",
                    "--unit", "models", "--claim", "eps=1.0,delta=1e-5", "--json")
        other = self.write("b.json", audit.stdout)
        page = self.dir / "both.html"
        result = run("report", source, other, "--out", page, "--title", "Upper & lower")
        self.assertEqual(result.returncode, 0, result.stderr)
        twin = json.loads((self.dir / "both.json").read_text())
        self.assertEqual([c["command"] for c in twin["chapters"]], ["quadratic", "audit"])
        html = page.read_text()
        self.assertIn("<title>Upper &amp; lower</title>", html)
        self.assertIn('class="verdict bad"', html)

    def test_a_directory_of_reproduce(self):
        run("reproduce", "--only", "figure2", "--out", self.dir / "paper")
        page = self.dir / "paper.html"
        result = run("report", self.dir / "paper", "--out", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        twin = json.loads((self.dir / "paper.json").read_text())
        self.assertIn("paper", twin["figure2"])
        self.assertTrue(any(b.get("key", "").startswith("figure2") for c in twin["chapters"] for b in c["blocks"]))

    def test_a_ledger_is_audited(self):
        ledger = self.dir / "quick.ledger"
        made = run("study", "run", "examples/train/quick.toml", "--ledger", ledger, "--set", "train.iterations=20",
                   "--set", "audit.replicas=6")
        self.assertEqual(made.returncode, 0, made.stderr)
        result = run("report", ledger, "--out", self.dir / "audit.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        twin = json.loads((self.dir / "audit.json").read_text())
        self.assertEqual(twin["chapters"][0]["command"], "audit")
        self.assertIn("membership", [b.get("key") for b in twin["chapters"][0]["blocks"]])

    def test_refusals(self):
        good = self.write("good.json", self.quadratic())
        cases = [
            ((self.dir / "none.json",), BAD_INPUT, "none.json"),
            ((self.write("text.json", "hello"),), BAD_INPUT, "neither JSON nor a ledger"),
            ((self.write("other.json", '{"a": 1}'),), BAD_INPUT, "not a document"),
            ((self.write("late.json", '{"schema_version": 99, "blocks": []}'),), BAD_INPUT, "schema_version"),
            ((self.write("odd.json", good.read_text().replace('"line"', '"spiral"')),), BAD_INPUT, "spiral"),
            ((self.write("short.json", '"blocks"'.join(
                part if i == 0 else part.replace('"claim": "exact",', "", 1)
                for i, part in enumerate(good.read_text().split('"blocks"')))),), BAD_INPUT, "claim"),
            ((self.dir,), BAD_INPUT, "reproduce"),
        ]
        for inputs, code, words in cases:
            with self.subTest(words):
                result = run("report", *inputs, "--out", self.dir / "out.html")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertIn(words, result.stderr)
                self.assertFalse((self.dir / "out.html").exists())
        replaced = run("report", good, "--out", good.with_suffix(".JSON"))
        self.assertEqual(replaced.returncode, USAGE)
        page = self.write("page.html", good.read_text())
        replaced = run("report", page, "--out", page, "--force")
        self.assertEqual(replaced.returncode, USAGE)
        self.assertIn("page.html is an input and would be overwritten", replaced.stderr)
        self.assertEqual(page.read_text(), good.read_text())
        self.assertEqual(run("report", good, "--out", self.dir / "x.json").returncode, USAGE)
        self.assertEqual(run("report", good).returncode, USAGE)


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
                images = [s for s in fig["series"] if s.get("mark", fig["mark"]) == "image"]
                panels = max(1, len(fields) + len(images))
                self.assertEqual(found["panels"], panels)
                self.assertEqual(found["legends"], 1 if "z" in fig["axes"] else 0)
                if fields:
                    self.assertGreaterEqual(found["contours"], 3 * panels)
                titles = [fig["axes"]["y"]["title"]] if fig["mark"] == "columns" else \
                    [fig["axes"]["x"]["title"], fig["axes"]["y"]["title"]]
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
        shown = float(shown)
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
        self.assertGreaterEqual(figures["frontier"]["rules"], 6)
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
        for words in ("KL over time", "KL(D||D')", "nats"):
            self.assertIn(words, seen["svg"]["text"])
        self.assertNotIn("var(--", seen["svg"]["text"])
        self.assertEqual(seen["png"]["signature"], "89504e470d0a1a0a")
        self.assertEqual(seen["numberRows"], sum(len(s["x"]) for s in kl["series"]))
        self.assertEqual(seen["order"]["ascending"], sorted(seen["order"]["before"], key=str.lower))
        self.assertEqual(seen["order"]["descending"], seen["order"]["ascending"][::-1])
        self.assertTrue(seen["copied"].startswith("quantity\tD\tD'\n"))

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
                self.check(self.look(name, json.loads(run(*arguments, "--json").stdout), "look"))

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
        self.check(json.loads(looked.stdout))


if __name__ == "__main__":
    unittest.main()
