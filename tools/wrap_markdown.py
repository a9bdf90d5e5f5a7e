#!/usr/bin/python3
"""Prose of Markdown in lines of at most 120 columns, so that differences can be read.

  tools/wrap_markdown.py [--check] [FILE...]      all of ours but what scripts write (docs/results) by default; --check changes nothing and lists the lines

Paragraphs and list items with a longer line are filled anew; code, tables, headings and front matter stay as they are, and so does a
line that is one long word (a link).
"""

import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 120
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)")
KEPT = re.compile(r"^\s*(#|\||>|<|!\[|\[\^?[^\]]+\]:|={3,}$|-{3,}$|\$\$)")  # headings, tables, quotes, HTML, pictures, references
SPACE_IN_CODE = "\u0001"


def fill(lines):
    """One paragraph or list item, filled; its first line decides the indentation."""
    item = ITEM.match(lines[0])
    first = re.match(r"\s*", lines[0]).group() if item is None else item.group()
    rest = first if item is None else " " * len(first)
    text = " ".join(line.strip() for line in lines)
    text = text[len(first.strip()):].lstrip() if item else text
    # A span of code is not broken: its spaces count.
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", lambda m: m.group().replace(" ", SPACE_IN_CODE), text)
    wrapped = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    out = []
    for line in wrapped:
        # What begins a line must not become a list item or a heading there.
        if out and re.match(r"\s*([-+*#>|]|\d+[.)])\s", line):
            word, _, line = line.strip().partition(" ")
            out[-1] += " " + word
            if not line:
                continue
            line = rest + line
        out.append(line)
    return [line.replace(SPACE_IN_CODE, " ") for line in out]


def blocks(lines):
    """(is prose, lines): paragraphs and items apart from everything else."""
    fence, run = None, []
    for line in lines:
        opening = re.match(r"^\s*(```+|~~~+)", line)
        if fence is not None or opening:
            if run:
                yield True, run
                run = []
            yield False, [line]
            if fence is None:
                fence = opening.group(1)
            elif opening and line.strip().startswith(fence):
                fence = None
            continue
        code = line.startswith("    ") and not run
        if not line.strip() or KEPT.match(line) or code:
            if run:
                yield True, run
                run = []
            yield False, [line]
        elif ITEM.match(line):
            if run:
                yield True, run
            run = [line]
        else:
            run.append(line)
    if run:
        yield True, run


def wrapped(text):
    out = []
    lines = text.split("\n")
    start = 0
    if lines[0] == "---":
        start = lines.index("---", 1) + 1
        out += lines[:start]
    for prose, some in blocks(lines[start:]):
        # Two blanks or a backslash at the end of a line are a break that somebody wants.
        long = any(len(line) > WIDTH for line in some) and not any(re.search(r"(  |\\)$", line) for line in some)
        out += fill(some) if prose and long else some
    return "\n".join(out)


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"]
    if not names:
        names = subprocess.run(["git", "ls-files", "*.md", ":!docs/results/*"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    late = 0
    for name in names:
        path = pathlib.Path(name) if pathlib.Path(name).is_absolute() else ROOT / name
        text = path.read_text(encoding="utf-8")
        new = wrapped(text)
        if new == text:
            continue
        late += 1
        if check:
            number = next(i for i, (a, b) in enumerate(zip(text.split("\n"), new.split("\n")), 1) if a != b)
            print(f"{name}:{number}: prose in lines of more than {WIDTH} columns. Run tools/wrap_markdown.py {name}")
        else:
            path.write_text(new, encoding="utf-8")
    return 1 if check and late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
