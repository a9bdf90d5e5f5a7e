"""Follows docs/cpp.md against an installed prefix: writes its files, builds them, runs its commands.

  cpp_page.py [--update] PREFIX WORK_DIR CXX [CXX_FLAGS]      --update rewrites what the commands print

A block of code whose first line names a file (`// rows.cpp: ...`, `# CMakeLists.txt`) is that file; it must also be the one in
examples/consumer. A `text` block is commands (`$ build/rows`) and what they print. Projects that ask for a part of the
package are configured without the packages that other parts need.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cpp.md"
EXAMPLES = ROOT / "examples" / "consumer"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?://|#) ((?:\w+/)?(?:\w+\.cpp|CMakeLists\.txt))\b")
# Packages that a project configures and builds without, and libraries that its program is not linked with.
WITHOUT = {"distributions": ["SQLite3", "nlohmann_json", "tomlplusplus", "LibLZMA", "ZLIB", "MPI"], "epsilon": ["SQLite3", "MPI", "hwy"]}
LIBRARIES = {"epsilon": ("libsqlite3", "libmpi", "libhwy")}


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def require(what, command, **options):
    code, output = run(command, **options)
    if code != 0:
        sys.exit(f"{what} failed ({code}):\n{output}")


def write_files(blocks, work):
    """The files of the page, in `work`; they are the examples, byte for byte."""
    names = []
    for language, text in blocks:
        match = FILE.match(text)
        if language not in ("cpp", "cmake") or not match:
            continue
        names.append(match.group(1))
        example = EXAMPLES / names[-1]
        if not example.exists() or example.read_text(encoding="utf-8") != text:
            sys.exit(f"{PAGE} shows {names[-1]} other than examples/consumer has it")
        (work / names[-1]).parent.mkdir(parents=True, exist_ok=True)
        (work / names[-1]).write_text(text, encoding="utf-8")
    return names


def build(project, prefix, cxx, flags, without):
    require(f"configuring {project}",
            ["cmake", "-S", project, "-B", project / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={cxx}",
             f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_PREFIX_PATH={prefix}",
             *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in without)])
    require(f"building {project}", ["cmake", "--build", project / "build"])


def run_commands(text, work):
    """What the commands of a block print, with the commands."""
    shown, code = "", 0
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        shown += line + "\n"
        if line == "$ echo $?":
            shown += f"{code}\n"
            continue
        code, output = run(line[2:], cwd=work, shell=True)
        shown += output
    return shown


def main(update, prefix, work, cxx, flags=""):
    page = PAGE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    names = write_files(blocks, work)
    shutil.copy(ROOT / "examples" / "rows" / "diabetes.csv", work)
    projects = sorted(name for name in names if name.endswith("CMakeLists.txt"))
    if len(projects) < 2 or len(names) - len(projects) < 4:
        sys.exit(f"{PAGE} has lost a program: {names}")
    for name in projects:
        project = name.partition("/")[0]
        build((work / name).parent, prefix, cxx, flags, WITHOUT[project] if "/" in name else [])
        if project in LIBRARIES:
            linked = run(["ldd", work / project / "build" / project])[1]
            for library in LIBRARIES[project]:
                if library in linked:
                    sys.exit(f"{project} is linked with {library}:\n{linked}")
    commands = [text for language, text in blocks if language == "text"]
    differ = [(text, found) for text in commands if (found := run_commands(text, work)) != text]
    for text, found in differ:
        print(f"docs/cpp.md says\n{text}and the programs\n{found}")
        page = page.replace(f"```text\n{text}```", f"```text\n{found}```")
    if update:
        PAGE.write_text(page, encoding="utf-8")
    print(f"{len(names)} files, {len(commands)} blocks of commands")
    return 1 if (differ and not update) or not commands else 0


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv, *(a for a in sys.argv[1:] if a != "--update")))
