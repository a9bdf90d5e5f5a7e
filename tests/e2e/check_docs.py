"""Runs the examples of the documentation and compares what they print.

In docs/*.md and README.md, a fenced block marked `console` holds commands and their output:

    ```console
    $ sfumato quadratic examples/quadratic/shift.toml
    A record that shifts the minimiser
    ...
    ```

Lines that begin with `$ sfumato` run in a directory that looks like the repository's root, one for each
file, which is removed afterwards: what the examples write stays out of the repository. What follows,
up to the next `$` or the end of the block, must be what they print (stdout and stderr), line by
line. Other `$` lines are not run, nor is their output compared. A line `...` alone stands for any number of lines. Lines
that contain a duration or a rate (`1.3 s`, `250/s`) are compared without their numbers. A command
may end with a pipe to head, tail, sed, grep or cut, and must end with code 0 unless its line ends with
`# exit code N`.

    check_docs.py [--update] [file...]      --update rewrites the outputs (not those with `...`)
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from support import ROOT, SFUMATO, without_progress

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMING = re.compile(r"\d\s?(ms|s|seconds|minutes)\b|\d/s\b|\bETA\b")
NUMBER = re.compile(r"\d[\d.:,]*")
EXIT_CODE = re.compile(r"# exit code (\d+)\s*$")


def commands_of(block):
    """(command, expected lines) in order; an output before the first command belongs to none."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    return commands


def is_run(command):
    return command.split()[0] == "sfumato"


@contextmanager
def like_root():
    """A directory for one file's examples, with links to what the repository's root holds."""
    with tempfile.TemporaryDirectory(prefix="sfumato-docs-") as name:
        for entry in ROOT.iterdir():
            if not entry.name.startswith((".", "build", "demo")):
                Path(name, entry.name).symlink_to(entry)
        yield name


def execute(command, directory):
    environment = dict(os.environ, PATH=f"{Path(SFUMATO).parent}:{os.environ['PATH']}",
                       LC_ALL="C.UTF-8")
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=directory,
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=300, check=False)
    return result.returncode, without_progress(result.stdout).splitlines()


def comparable(line):
    """The line without what differs from run to run and without blanks at its end."""
    line = line.rstrip()
    return NUMBER.sub("#", line) if TIMING.search(line) else line


def matches(expected, got):
    """Whether the lines agree, `...` standing for any number of lines."""
    if not expected:
        return not got
    if expected[0].strip() == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and comparable(expected[0]) == comparable(got[0]) and matches(expected[1:],
                                                                                   got[1:])


def trimmed(lines):
    """Without empty lines at the end, where a block may have one before its next command."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def check(path, directory):
    """(commands run, complaints) for one file."""
    count, complaints = 0, []
    for block in FENCE.findall(path.read_text()):
        for command, expected in commands_of(block):
            if not is_run(command):
                continue
            count += 1
            code, got = execute(command, directory)
            wanted = EXIT_CODE.search(command)
            if code != int(wanted.group(1) if wanted else 0):
                complaints.append(f"{path}: `{command}` ended with code {code}:\n" + "\n".join(got))
            elif not matches(trimmed(expected), trimmed(got)):
                diff = difflib.unified_diff(expected, got, "documented", "printed", lineterm="")
                complaints.append(f"{path}: `{command}` prints something else:\n" + "\n".join(diff))
    return count, complaints


def update(path, directory):
    """Rewrites the outputs in one file."""
    def rewrite(found):
        lines = []
        for command, expected in commands_of(found.group(1)):
            if is_run(command):
                printed = trimmed(execute(command, directory)[1])  # later commands read what it writes
                if "..." not in (line.strip() for line in expected):
                    expected = printed
            lines += ["$ " + command, *expected]
        return "```console\n" + "".join(line.rstrip() + "\n" for line in lines) + "```"

    path.write_text(FENCE.sub(rewrite, path.read_text()))


def main(arguments):
    files = [Path(a) for a in arguments if a != "--update"]
    files = files or sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("README.md")])
    if "--update" in arguments:
        for path in files:
            with like_root() as directory:
                update(path, directory)
        return 0
    total, complaints = 0, []
    for path in files:
        with like_root() as directory:
            count, found = check(path, directory)
        total += count
        complaints += found
    print("\n\n".join([*complaints, f"{total} commands run, {len(complaints)} wrong"]))
    if total == 0:
        print("no command found: the documentation has no console block any more")
    return 1 if complaints or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
