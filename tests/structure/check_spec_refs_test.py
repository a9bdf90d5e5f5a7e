"""tools/check_spec_refs.py accepts what exists and refuses each kind of dangling reference."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_spec_refs  # noqa: E402

# Written apart so that the checker, which reads this file too, does not take them for tags.
TAG = "Spec " + chr(0xA7)
OPEN = "["

SPEC = """# Specification

## 1. Conventions

### 1.1 First

    (1)  a = b
    (2)  b = c
         d = e

## 2. Algorithm

    (a)  x = y

0. begin
1. end

## 14. Property tests

### 14.1 Distribution
"""
BIBLIOGRAPHY = f"- **{OPEN}Known2018]** A. Known. *A title.* 2018.\n"


class CheckSpecRefs(unittest.TestCase):
    def check(self, files, spec=SPEC, bibliography=BIBLIOGRAPHY):
        with tempfile.TemporaryDirectory() as folder:
            files = {"docs/spec.md": spec, "docs/bibliography.md": bibliography, **files}
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return check_spec_refs.check(folder)

    def problems(self, text, path="src/sfumato/math/a.hpp"):
        return self.check({path: text})[0]

    def test_existing_references_pass(self):
        self.assertEqual(self.problems(
            f"/// {TAG}1.1 (2), {TAG}1.1 (1), (2), {TAG}2 (a), {TAG}2 step 1, {TAG}2 (0)-(1); {TAG}14.1\n"
            f"/// {TAG}2, steps 0 and 1; {TAG}14, item 1\n"
            f"/// {OPEN}Known2018, Thm 8] and {OPEN}Known2018] and {OPEN}Known2018, {chr(0xA7)}77]\n"), [])

    def test_dangling_section(self):
        for path in ("src/sfumato/math/a.hpp", "apps/cli/a.cpp", "tests/unit/math/a_test.cpp",
                     "bench/micro/a.cpp", "docs/a.md", "README.md"):
            with self.subTest(path=path):
                found = self.problems(f"one\n/// {TAG}9.9\n", path)
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith(f"{path}:2: "), found[0])

    def test_dangling_equation(self):
        self.assertEqual(len(self.problems(f"/// {TAG}1.1 (3)\n")), 1)
        self.assertEqual(len(self.problems(f"/// {TAG}1.1 (1), (7)\n")), 1)
        self.assertEqual(len(self.problems(f"/// {TAG}2 (b)\n")), 1)
        self.assertEqual(len(self.problems(f"/// {TAG}2 step 2\n")), 1)
        self.assertEqual(len(self.problems(f"/// {TAG}2, steps 0 and 2\n")), 1)
        self.assertEqual(len(self.problems(f"/// {TAG}14, items 1 and 2\n")), 1)

    def test_malformed_tag(self):
        self.assertEqual(len(self.problems("/// " + "Spec" + " 1.1\n")), 1)
        self.assertEqual(len(self.problems("/// " + "SPEC" + " 2\n")), 1)

    def test_dangling_citation(self):
        self.assertEqual(len(self.problems(f"/// {OPEN}Unknown2018, Thm 8]\n")), 1)
        self.assertEqual(len(self.problems(f"/// {OPEN}Unknown2018]\n")), 1)

    def test_ambiguous_specification_or_bibliography(self):
        self.assertEqual(len(self.check({}, spec=SPEC + "\n### 1.1 Again\n")[0]), 1)
        self.assertEqual(len(self.check({}, spec=SPEC.replace("(2)  b", "(1)  b"))[0]), 1)
        self.assertEqual(len(self.check({}, bibliography=BIBLIOGRAPHY * 2)[0]), 1)

    def test_lists_what_has_no_code_or_no_test(self):
        problems, information = self.check({
            "src/sfumato/math/a.hpp": f"/// {TAG}1.1 (1)\n",
            "tests/unit/math/a_test.cpp": f"/// {TAG}2 (a)\n"})
        self.assertEqual(problems, [])
        self.assertEqual(information, [
            "sections without code: 2",
            "equations without code in the other sections: 1.1 (2)",
            "sections without test: 1.1, 14.1",
            "equations without test in the other sections: 2 (0), 2 (1)"])


if __name__ == "__main__":
    unittest.main()
