#!/usr/bin/python3
"""Checks that every reference to the specification and to the bibliography points at something.

  tools/check_spec_refs.py [ROOT]     ROOT defaults to the repository that holds this file

References are `Spec §6.3`, `Spec §4.2 (3), (4)` and `[BalleWang2018, Thm 8]`. A dangling one fails.
What the specification has and no source file or no test mentions is listed, and fails nothing.
"""

import pathlib
import re
import sys

SPEC = "docs/spec.md"
BIBLIOGRAPHY = "docs/bibliography.md"
TREES = ("include", "src", "apps", "python", "web", "tests", "bench", "examples", "tools", "docs")
SUFFIXES = (".hpp", ".cpp", ".py", ".md", ".txt", ".cmake", ".toml", ".js")
CODE = ("include/", "src/", "apps/")
# Sections that describe names and proofs: no code implements them. Section 14 is for tests alone.
NOT_FOR_CODE = ("14", "15", "16")
NOT_FOR_TESTS = ("15", "16")

HEADING = re.compile(r"^#{2,4} (\d+(?:\.\d+)?)\.? +(.*)$")
EQUATION = re.compile(r"^    \((\d{1,2}|[a-z])\) ")
STEP = re.compile(r"^(\d{1,2})\. ")
LABEL = r"\((\d{1,2}|[a-z])\)"
# The section, then any number of labels: "§4.2 (3), (4)", "§4.2 (1)-(3)", "§3.3, steps 3 and 4"; or of its
# subsections: "§14, items 1 and 2".
REFERENCE = re.compile(
    r"§ ?(\d+(?:\.\d+)*)((?:(?:\s|,|-|–|and)*\((?:\d{1,2}|[a-z])\))*)"
    r"(?:,? (step|item)s? (\d{1,2}(?:(?:,| and|-|–) ?\d{1,2})*))?")
# A tag that the pattern above would miss.
MALFORMED = re.compile(r"\bSPEC(?:\.md)?\s*§?\s*\d|\bSpec \d+\.\d+")
CITATION = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d{2}[a-z]?)(?:,[^\]\n]*)?\]")
KEY = re.compile(r"^- \*\*\[([A-Za-z0-9]+)\]\*\*", re.MULTILINE)


def read_spec(text):
    """{section: set of labels} and the problems of the specification itself."""
    sections, problems, current = {}, [], None
    for number, line in enumerate(text.splitlines(), 1):
        heading = HEADING.match(line)
        if heading:
            current = heading.group(1)
            if current in sections:
                problems.append(f"{SPEC}:{number}: section {current} appears twice")
            sections.setdefault(current, set())
            continue
        label = EQUATION.match(line) or (STEP.match(line) if current else None)
        if label and current:
            if label.group(1) in sections[current]:
                problems.append(f"{SPEC}:{number}: section {current} has two labels ({label.group(1)})")
            sections[current].add(label.group(1))
    return sections, problems


def references(text):
    """(line, section, label or None) for each tag in a text that is not part of a citation."""
    # A section sign inside a citation belongs to the cited work.
    text = CITATION.sub(lambda m: re.sub("§", " ", m.group()), text)
    for match in REFERENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        section, listed = match.group(1), re.findall(r"\d+", match.group(4) or "")
        yield line, section, None
        for label in re.findall(LABEL, match.group(2)):
            yield line, section, label
        for number in listed:
            yield (line, section, number) if match.group(3) == "step" else (line, f"{section}.{number}", None)


def files_of(root):
    for tree in TREES:
        for file in sorted((root / tree).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file() and "node_modules" not in file.parts:
                yield file
    yield from sorted(root.glob("*.md"))


def order(section):
    return [int(part) for part in section.split(".")]


def listing(title, items):
    return f"{title}: {', '.join(items) if items else 'none'}"


def coverage(sections, used, side, excluded):
    """Sections, and equations of mentioned sections, that nothing on one side mentions."""
    leaves = [s for s in sections
              if s.split(".")[0] not in excluded and not any(t.startswith(s + ".") for t in sections)]
    leaves.sort(key=order)
    absent = [s for s in leaves if (s, None) not in used]
    present = [s for s in leaves if (s, None) in used]
    labels = [f"{s} ({label})" for s in present for label in sorted(sections[s]) if (s, label) not in used]
    return [listing(f"sections without {side}", absent),
            listing(f"equations without {side} in the other sections", labels)]


def check(root):
    """The problems, and the lines of the informative list."""
    root = pathlib.Path(root)
    sections, problems = read_spec((root / SPEC).read_text(encoding="utf-8"))
    keys = KEY.findall((root / BIBLIOGRAPHY).read_text(encoding="utf-8"))
    problems += [f"{BIBLIOGRAPHY}: key {k} appears twice" for k in sorted(set(keys)) if keys.count(k) > 1]
    in_code, in_tests = set(), set()
    for file in files_of(root):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        for match in MALFORMED.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: '{match.group()}' is not a tag: write Spec §N.M (label)")
        for line, section, label in references(text):
            if section not in sections:
                problems.append(f"{path}:{line}: Spec §{section} does not exist")
            elif label is not None and label not in sections[section]:
                problems.append(f"{path}:{line}: Spec §{section} has no equation or step ({label})")
            if path.startswith(CODE):
                in_code.add((section, label))
            elif path.startswith("tests/"):
                in_tests.add((section, label))
        for match in CITATION.finditer(text):
            if match.group(1) not in keys:
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: [{match.group(1)}] is not in {BIBLIOGRAPHY}")
    information = coverage(sections, in_code, "code", NOT_FOR_CODE)
    information += coverage(sections, in_tests, "test", NOT_FOR_TESTS)
    return problems, information


def main(arguments):
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    problems, information = check(root)
    for line in information:
        print(line)
    for problem in problems:
        print(problem)
    print(f"check_spec_refs: {len(problems)} dangling references")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
