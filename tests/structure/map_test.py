"""docs/architecture.md and the recipes of CONTRIBUTING.md name modules and files that exist, and every module."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402

ENDINGS = ("", ".hpp", ".cpp", ".py", ".js", ".md")
ROOTS = ("", "src/sfumato/", "include/sfumato/", "src/")


def exists(name):
    return any((ROOT / f"{root}{name}{ending}").exists() for root in ROOTS for ending in ENDINGS)


def paths_in(text):
    """What stands in backticks and has a slash: a path, unless it has a placeholder in capitals."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`]+)`", text):
        if re.fullmatch(r"[\w./\-]+", span) and "/" in span and not re.search(r"(^|[/_.])[A-Z]{2,}", span):
            yield span


class Map(unittest.TestCase):
    def test_files_of_the_map_exist(self):
        named = list(paths_in((ROOT / "docs/architecture.md").read_text(encoding="utf-8")))
        self.assertGreater(len(named), 60)
        self.assertEqual([name for name in named if not exists(name)], [])

    def test_every_module_is_in_the_map(self):
        text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
        self.assertEqual([m for m in check_layers.RANK if f"| `{m}` |" not in text and m != "python"], [])

    def test_recipes_name_files_that_exist(self):
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        recipes = text.split("\n## Recipes\n", 1)[1].split("\n## ", 1)[0]
        named = list(paths_in(recipes))
        self.assertGreater(len(named), 15)
        self.assertEqual([name for name in named if not exists(name)], [])

    def test_changes_open_as_many_sources_as_their_recipes_say(self):
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        # What was added by a recipe, and the files that know it by name.
        example = {"A mechanism of the accountant": "TruncatedPoisson", "A metric of private training": "LowRankMetric",
                   "A mechanism of private fits": "MinimiserFit", "A divergence": None}
        for title, name in example.items():
            recipe = text.split(f"\n### {title}\n", 1)[1].split("\n### ", 1)[0]
            most = int(re.search(r"Sources opened: at most (\d+)", recipe).group(1))
            listed = [path for path in paths_in(recipe) if path.startswith(("src/", "include/", "apps/")) and path.endswith((".hpp", ".cpp"))]
            self.assertLessEqual(len(listed), most, title)
            if name is None:
                continue
            naming = [path for folder in ("src", "include", "apps") for path in sorted((ROOT / folder).rglob("*.[hc]pp"))
                      if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))]
            self.assertTrue(naming, title)
            self.assertLessEqual(len(naming), most, f"{title}: {naming}")

    def test_a_file_that_is_not_there_is_noticed(self):
        self.assertFalse(exists("core/no_such_file"))
        self.assertEqual(list(paths_in("`src/a.cpp`, `NAME/x`, `x/NAME_y.cpp`, `word`, `a b/c`")), ["src/a.cpp"])


if __name__ == "__main__":
    unittest.main()
