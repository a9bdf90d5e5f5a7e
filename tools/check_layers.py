#!/usr/bin/python3
"""Checks the layers of the source tree: who may include whom, and what the library never does.

  tools/check_layers.py [ROOT]        ROOT defaults to the repository that holds this file

Prints one line per violation, `path:line: [rule] what is wrong`, and exits with 1 if there is any.
"""

import pathlib
import re
import sys

# Low to high: libsfumato, the laboratory, programs. Modules on one line are siblings that do not know each other. A module is a folder of
# src/sfumato, src (lab/NAME) or the tree (apps/NAME); `accountant` is the mathematics of account, in folders of its own there.
LAYERS = [
    ["core"],
    ["math"],
    ["random"],
    ["data"],
    ["report"],
    ["sde"],
    ["divergence"],
    ["risk", "storage", "accountant", "audit", "problem"],
    ["account"],
    ["rows", "quadratic", "bound", "design", "fit"],
    ["lab/images", "lab/ledger"],
    ["lab/nn"],
    ["lab/study"],
    ["lab/audit", "lab/train"],
    ["lab/report"],
    ["apps/golden", "apps/bench"],
    ["apps/reproduce"],
    ["apps/cli", "python"],
]
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}
ACCOUNTANT = ("accountant", "contour", "lattice", "steps", "tuning")  # folders of src/sfumato/account
LAB = "lab"
TREES = ("src/lab", "apps", "python")
APPS = ("golden", "bench", "reproduce", "cli")  # include roots below apps/

# Third-party headers that belong to one place: pattern of the header, places that may include it.
# A place is a folder; "*.cpp" after it says that headers may not. Folders of TEST_TREES are free.
THIRD_PARTY = [
    (r"toml\+\+/.*", ["src/sfumato/data/*.cpp"]),
    (r"CLI/.*", ["apps/cli/*.cpp"]),
    (r"zlib\.h|zconf\.h", ["src/sfumato/data/*.cpp"]),
    (r"nlohmann/.*", ["src/sfumato/data", "src/sfumato/report", "src/sfumato/account/*.cpp", "src/sfumato/fit/*.cpp",
                      "src/lab/train/*.cpp", "apps"]),
    (r"sqlite3\.h", ["src/sfumato/storage"]),
    (r"mpi\.h", ["src/lab/study/scheduler"]),
    (r"Python\.h|nanobind/.*|pybind11/.*", ["python"]),
    (r"(Eigen|unsupported/Eigen|boost)/.*", [f"src/sfumato/{m}" for m in RANK if m != "core" and "/" not in m] + ["src/sfumato/account", *TREES]),
    (r"fmt/.*", ["src", "apps", "python"]),
    (r"gtest/.*|gmock/.*|rapidcheck.*|benchmark/.*", []),
]
TEST_TREES = ("tests", "bench", "examples")
LIBRARY = ("include/", "src/", "apps/golden/", "apps/bench/", "apps/reproduce/")  # what reports through values alone
VERSION = "sfumato/version.hpp"  # the build makes it; below every module
WHOLE = "sfumato/sfumato.hpp"  # includes every public header; for callers alone
# What a public header may include beside public headers and the standard library.
PUBLIC_THIRD_PARTY = re.compile(r"Eigen/.*")

# What the library never does: it reports through values, exceptions and the Observer.
FORBIDDEN_IN_LIBRARY = [
    (r"\bstd::(?:cout|cerr|clog|cin)\b", "uses a standard stream"),
    (r"(?<![\w.>])(?:std::)?(?:f|v|vf)?printf\s*\(", "prints"),
    (r"(?<![\w.>])(?:std::)?(?:f?puts|putchar|perror)\s*\(", "prints"),
    (r"\bfmt::print(?:ln)?\s*\(", "prints"),
    (r"(?<![\w.>])(?:std::)?(?:_?exit|_Exit|quick_exit|abort|terminate)\s*\(", "ends the process"),
    (r"(?<![\w.>])assert\s*\(", "uses assert, which vanishes in release builds"),
]
FORBIDDEN_HEADERS = {"iostream", "cassert", "assert.h"}

# Where statements are parts that know what they are (report/sentence.hpp), so that nothing looks into text: who searches, cuts or parses
# words that the program made itself breaks when they are worded anew, and nothing but a reader of the page sees it. Folders and files are
# added as they are cleaned. Sources that read what people wrote may search in it.
WORDS_ARE_NO_DATA = (
    "src/sfumato/quadratic/", "src/sfumato/rows/", "src/sfumato/bound/", "src/sfumato/design/", "src/sfumato/fit/",
    "src/lab/audit/", "src/lab/train/", "src/lab/report/", "src/lab/study/plan_", "src/lab/study/verify_ledger", "apps/bench/",
    "src/sfumato/account/account_", "src/sfumato/account/accountant/", "src/sfumato/audit/plan_tables", "src/sfumato/problem/closing",
    "src/sfumato/report/document.cpp", "src/sfumato/report/figure.cpp", "src/sfumato/report/html_chapter.cpp",
    "src/sfumato/report/html_figure.cpp", "src/sfumato/report/html_summary.cpp", "src/sfumato/report/html_table.cpp",
    "src/sfumato/report/row_field.hpp", "src/sfumato/report/sentence", "src/sfumato/report/table", "src/sfumato/account/releases.cpp",
)
READS_INPUT = re.compile(r".*_question\.cpp|src/sfumato/rows/fitted_rows\.cpp|src/sfumato/fit/(bounded_rows|public_table)\.cpp"
                         r"|src/sfumato/account/account_answer\.cpp")
LOOKS_INTO_TEXT = re.compile(
    r"(?:\.|->)(?:r?find(?:_(?:first|last)(?:_not)?_of)?|substr|starts_with|ends_with|compare)\s*\((?!\s*\))"
    r"|\bstd::(?:regex|smatch|istringstream|getline)\b|\bstd::toupper\b")

TOKENS = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')",
    re.DOTALL,
)
# Types at the top level of a header: two of one name are one type to the linker.
TYPE = re.compile(r"^(?:template <[^>]*>\s*)?(?:(?:struct|class|enum class)\s+(\w+)\b(?!<)[^;({]*\{|using\s+(\w+)\s*=)", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def without(text, kinds):
    """The text with the named kinds of tokens blanked out; line numbers stay."""

    def blank(match):
        kind = next(k for k in ("comment", "raw", "string", "char") if match.group(k) is not None)
        return re.sub(r"[^\n]", " ", match.group()) if kind in kinds else match.group()

    return TOKENS.sub(blank, text)


def place_allows(place, path):
    """Public headers belong to the places of the modules in src/."""
    path = re.sub(r"^include/", "src/", path)
    folder, _, pattern = place.partition("/*")
    inside = path == folder or path.startswith(folder + "/")
    return inside and (not pattern or path.endswith(pattern))


def module_of_parts(parts):
    """The module of a path below an include root: sfumato/NAME/..., sfumato/lab/NAME/..., lab/NAME/..., NAME/... of apps."""
    if parts[0] == "sfumato":
        parts = parts[1:]
        if parts[0] == "account" and len(parts) > 2 and parts[1] in ACCOUNTANT:
            return "accountant"
        return "/".join(parts[:2]) if parts[0] == LAB and len(parts) > 2 else parts[0] if len(parts) > 1 else None
    if parts[0] == LAB and len(parts) > 2:
        return "/".join(parts[:2])
    if parts[0] in APPS and len(parts) > 1:
        return "apps/" + parts[0]
    return None


def module_of(path):
    """The module a file belongs to, or None for a file that may see every module."""
    parts = path.split("/")
    if parts[0] in ("include", "src", "apps"):
        return module_of_parts(parts[1:])
    if parts[0] == "python":
        return "python"
    if parts[0] == "tests" and len(parts) > 3 and parts[1] in ("unit", "property"):
        return "/".join(parts[2:4]) if parts[2] in (LAB, "apps") else parts[2]
    return None


class Checker:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.violations = []
        self.files = 0
        self.types = {}  # name of a type: the header that defines it

    def report(self, path, line, rule, message):
        self.violations.append(f"{path}:{line}: [{rule}] {message}")

    def run(self):
        for tree, prefix in (("src/sfumato", ""), ("src/lab", "lab/"), ("apps", "apps/")):
            modules = self.root / tree
            for folder in sorted(modules.iterdir()) if modules.is_dir() else []:
                if folder.is_dir() and prefix + folder.name not in RANK:
                    self.report(f"{tree}/{folder.name}", 1, "unknown-module", "is not in the layer table of tools/check_layers.py")
        for tree in ("include", "src", "apps", "python/bindings", "tests"):
            for file in sorted((self.root / tree).rglob("*")):
                if file.suffix in (".hpp", ".cpp") and file.is_file():
                    self.check_file(file)
        self.check_whole()
        return self.violations

    def check_file(self, file):
        self.files += 1
        path = file.relative_to(self.root).as_posix()
        text = without(file.read_text(encoding="utf-8"), {"comment", "raw"})
        includes = [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2))
                    for m in INCLUDE.finditer(text)]
        module = module_of(path)
        if module is not None and module not in RANK:
            if path.startswith("tests/"):
                self.report(path, 1, "unknown-module", f"'{module}' is not a module")
            module = None
        for line, quote, name in includes:
            self.check_include(path, module, line, quote, name)
        if path.startswith(("include/", "src/", "apps/")):
            self.check_own_header_first(file, path, includes)
        if file.suffix == ".hpp" and not text.lstrip().startswith("#pragma once"):
            self.report(path, 1, "pragma-once", "a header starts with #pragma once")
        if path.startswith(LIBRARY):
            code = without(text, {"string", "char"})
            self.check_types(file, path, code)
            self.check_words(path, text)
            for pattern, what in FORBIDDEN_IN_LIBRARY:
                for match in re.finditer(pattern, code):
                    self.report(path, code.count("\n", 0, match.start()) + 1, "library-silence",
                                f"the library {what}: {match.group().strip()}")

    def check_include(self, path, module, line, quote, name):
        if name.startswith("../") or "/../" in name:
            self.report(path, line, "relative-include", f'write "{name}" from the include root')
            return
        root = name.split("/")[0]
        if root in ("sfumato", LAB, *APPS) and "/" in name and (quote == '"' or root == "sfumato"):
            if quote != '"':
                self.report(path, line, "include-form", f'write "{name}" with quotes')
            if path.startswith("include/") and name != VERSION and not (self.root / "include" / name).exists():
                self.report(path, line, "private-include",
                            f'"{name}" is not installed: move it to include/, or declare what is needed')
            if name == VERSION:
                return
            other = module_of_parts(name.split("/"))
            if other not in RANK:
                self.report(path, line, "unknown-module", f'"{name}" names no module')
                return
            if module is not None and other != module and RANK[other] >= RANK[module]:
                way = "sideways" if RANK[other] == RANK[module] else "upward"
                if not (path.startswith("tests/") and way == "sideways"):
                    self.report(path, line, f"{way}-include", f"{module} includes {other}")
            return
        if quote == '"' and path.startswith(LIBRARY):
            self.report(path, line, "include-form", f'"{name}" is not a path from the include root')
        if path.split("/")[0] in TEST_TREES:
            return
        if path.startswith("include/") and "/" in name and not PUBLIC_THIRD_PARTY.fullmatch(name):
            self.report(path, line, "private-include", f"callers of <{path}> would need <{name}>")
            return
        if path.startswith(LIBRARY) and name in FORBIDDEN_HEADERS:
            self.report(path, line, "library-silence", f"the library does not include <{name}>")
        for pattern, places in THIRD_PARTY:
            if re.fullmatch(pattern, name) and not any(place_allows(p, path) for p in places):
                self.report(path, line, "third-party",
                            f"<{name}> belongs to {', '.join(places) or 'tests and benchmarks'}")

    def check_words(self, path, text):
        """Sentences are not searched, cut or parsed."""
        if not path.startswith(WORDS_ARE_NO_DATA) or READS_INPUT.fullmatch(path):
            return
        code = re.sub(r'"(?:\\.|[^"\\\n])*"', '"s"', text)  # an argument stays one
        for match in LOOKS_INTO_TEXT.finditer(code):
            self.report(path, code.count("\n", 0, match.start()) + 1, "words-as-data",
                        f"looks into text ({match.group().strip('.->( ')}): keep it as parts of a Text, or as a field")

    def check_types(self, file, path, code):
        """One header defines a type of that name."""
        if file.suffix != ".hpp":
            return
        for match in TYPE.finditer(code):
            name = match.group(1) or match.group(2)
            other = self.types.setdefault(name, path)
            if other != path:
                self.report(path, code.count("\n", 0, match.start()) + 1, "two-definitions",
                            f"{name} is defined in {other} too")

    def check_whole(self):
        """WHOLE includes every public header."""
        whole = self.root / "include" / WHOLE
        if not whole.exists():
            return
        included = {name for _, name in INCLUDE.findall(without(whole.read_text(encoding="utf-8"), {"comment"}))}
        headers = (h.relative_to(self.root / "include").as_posix() for h in (self.root / "include").rglob("*.hpp"))
        for header in sorted(headers):
            if header != WHOLE and header not in included:
                self.report(f"include/{WHOLE}", 1, "whole", f'does not include "{header}"')

    def check_own_header_first(self, file, path, includes):
        if file.suffix != ".cpp":
            return
        beside = re.sub(r"\.cpp$", ".hpp", path)
        public = re.sub(r"^src/", "include/", beside)
        own = next((header for header in (beside, public) if (self.root / header).exists()), None)
        first = includes[0] if includes else (1, "", "nothing")
        # The command line names the headers of its folder by their names alone.
        if own is not None and not (own in ("src/" + first[2], "include/" + first[2], "apps/" + first[2])
                                    or (path.startswith("apps/cli/") and own.endswith(first[2]))):
            self.report(path, first[0], "own-header-first", f"includes {first[2]} before {own}")


def main(arguments):
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    checker = Checker(root)
    violations = checker.run()
    for violation in violations:
        print(violation)
    print(f"check_layers: {checker.files} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
