"""Text is written as typed parts and printed once: nothing searches, cuts or rewrites sentences.

Counts what takes texts apart, in the files that word, render or print answers. What is left is listed here with its reason; a file that
needs less is listed with less, one that needs more is refused.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SURGERY = {
    ".cpp": re.compile(r"(\.|->)(find|rfind|substr|starts_with|ends_with|find_first_of|find_last_of|find_first_not_of|find_last_not_of|"
                       r"remove_prefix|replace|erase)\(|\bstd::(regex|to?upper|toupper|tolower)\b"),
    ".py": re.compile(r"\bre\.\w+\(|\.(replace|startswith|endswith|partition|rpartition|find|removeprefix|removesuffix|capitalize|upper)\("),
    ".js": re.compile(r"\.(replace|replaceAll|startsWith|endsWith|indexOf|match|matchAll|split|slice|substring|toUpperCase)\(|\.test\("),
}
PLACES = ["src/**/*_document.cpp", "src/**/*_tables.cpp", "src/**/*_words.cpp", "src/**/*_figures.cpp", "src/**/*_abstract.cpp",
          "src/**/*_fields.cpp", "src/sfumato/report/*.cpp", "src/lab/audit/*.cpp", "src/lab/train/*.cpp",
          "src/sfumato/design/*.cpp", "src/sfumato/fit/*.cpp", "src/sfumato/account/accountant/*.cpp", "src/sfumato/core/error.cpp", "apps/cli/*.cpp", "apps/reproduce/*.cpp",
          "python/sfumato/*.py", "python/bindings/*.cpp", "web/figures/*.js", "web/page.js"]
SUFFIX = re.compile(r"""(ends_with|endswith)\(["']\.\w+["']\)""")  # what kind of file a path names
# File: how often, and why it is no sentence, or why it still is.
ALLOWED = {
    "apps/cli/help.cpp": (4, "lines of a footer, which is laid out when it is written: headings, examples, sentences"),
    "apps/cli/key_options.cpp": (12, "what was typed for an option; the first letter of a help line; wrapping"),
    "apps/cli/list_option.cpp": (5, "what was typed for an option, split at commas"),
    "apps/cli/main.cpp": (4, "words of the command line"),
    "apps/cli/provenance.cpp": (11, "words of the command line, files of the system"),
    "apps/cli/reproduce.cpp": (2, "keys of parts, table2.s1"),
    "apps/cli/usage.cpp": (2, "words of the command line"),
    "apps/reproduce/part.cpp": (1, "keys of parts, table2.s1"),
    "apps/reproduce/path_kl_summary.cpp": (2, "names of parameters, fc1.weight[3]"),
    "apps/reproduce/run.cpp": (2, "keys of parts, table2.s1"),
    "apps/reproduce/table1_part.cpp": (3, "lookups in a map"),
    "apps/reproduce/table2_part.cpp": (1, "keys of parts, table2.s1"),
    "python/bindings/callables.cpp": (1, "a list of buffers"),
    "python/bindings/questions.cpp": (1, "a lookup in a map"),
    "python/sfumato/_answer.py": (6, "paths of the files of one call, which are called by their keywords"),
    "python/sfumato/_quantities.py": (7, "keys of numbers, epsilon.upper"),
    "python/sfumato/_tables.py": (1, "the name of a package"),
    "python/sfumato/_values.py": (3, "paths of the files of one call, which are called by their keywords; TOML"),
    "src/sfumato/audit/attack_figures.cpp": (1, "a list of events"),
    "src/sfumato/core/error.cpp": (6, "keys in backticks, which messages still are searched for: each front end calls them in its own way"),
    "src/sfumato/design/budget_for_risk.cpp": (1, "a list of shares"),
    "src/sfumato/fit/bounded_rows.cpp": (1, "a lookup in a map"),
    "src/sfumato/fit/public_table.cpp": (8, "the file of bounds, which people write"),
    "src/sfumato/report/confidence.cpp": (7, "digits of a number"),
    "src/sfumato/report/csv_export.cpp": (1, "quoting of CSV"),
    "src/sfumato/report/html.cpp": (10, "lines of code, a command line, dates; and still the keys of provenance, 'SHA-256 of FILE'"),
    "src/sfumato/report/number.cpp": (7, "digits of a number"),
    "src/sfumato/report/printable.cpp": (6, "wrapping of lines, control characters"),
    "src/sfumato/report/quantities.cpp": (2, "names of numbers that go on with a number, delta_at_1"),
    "src/sfumato/report/read_document.cpp": (23, "keys of JSON"),
    "src/sfumato/report/text.cpp": (6, "trailing blanks; where the colour of a verdict ends"),
    "src/sfumato/report/text_table.cpp": (2, "trailing blanks"),
    "src/sfumato/report/typeset.cpp": (30, "sets marked mathematics; and still looks for it in texts that were not marked, as in JSON"),
    "web/figures/curves.js": (1, "keys of figures"),
    "web/figures/format.js": (4, "digits of a number"),
    "web/figures/main.js": (1, "the place of a figure, 1/2"),
    "web/figures/pdf.js": (15, "PDF"),
    "web/figures/printable.js": (2, "control characters"),
    "web/figures/save.js": (1, "a list of series"),
    "web/page.js": (16, "numbers as sorted, names of classes; and still mathematics in texts of tables, for LaTeX"),
}


def count(path):
    code = "\n".join(line.split("//")[0] if path.suffix != ".py" else line.split("  #")[0] for line in path.read_text().splitlines())
    return len(SURGERY[path.suffix].findall(SUFFIX.sub("", code)))


def found():
    files = sorted({path for place in PLACES for path in ROOT.glob(place)})
    return {str(path.relative_to(ROOT)): n for path in files if (n := count(path))}


class Words(unittest.TestCase):
    def test_nothing_takes_sentences_apart(self):
        counted = found()
        for name in sorted({*counted, *ALLOWED}):
            with self.subTest(name):
                self.assertEqual(counted.get(name, 0), ALLOWED.get(name, (0, ""))[0], "write typed parts (report/sentence.hpp), or list it with less")

    def test_reasons(self):
        for name, (n, reason) in ALLOWED.items():
            self.assertGreater(len(reason), 2, name)

    def test_sees_what_it_looks_for(self):
        for suffix, line in ((".cpp", 'text.substr(1)'), (".py", 're.sub("a", "b", text)'), (".js", 'title.startsWith("x")')):
            self.assertTrue(SURGERY[suffix].search(line))


if __name__ == "__main__":
    unittest.main()
