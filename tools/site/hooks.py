"""What MkDocs does not know of this repository: pages outside docs/, files that pages link to, typeset formulas.

README.md is the front page; SECURITY.md, CONTRIBUTING.md and CHANGELOG.md are pages; a file of the repository that a page links to
(a study, an example, a tool) becomes a page that shows it, a folder one that lists it. Files in docs/ link to all of these as they do
in a checkout.
"""
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
SHIM = re.compile(r'https://[^"]*/iframe-worker/shim')
LANGUAGES = {".toml": "toml", ".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".mjs": "javascript", ".sbatch": "bash", ".json": "json"}


def is_remote(link):
    return "://" in link or link.startswith("mailto:")


def source_page(path):
    """The page of a file or folder outside docs/."""
    return f"files/{path.relative_to(ROOT).as_posix()}.md"


def text_of(path):
    """Markdown that shows a file, or lists a folder."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in path.iterdir())
        return f"# {name}/\n\n" + "".join(f"- `{entry}`\n" for entry in entries)
    if path.suffix == ".md":
        return path.read_text()
    return f"# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text().rstrip()}\n````\n"


def target_of(link, folder):
    """Where a link of a file in `folder` goes, relative to the site, or None if it is not a file of the repository."""
    path = Path(os.path.normpath(folder / link))
    if not path.exists() or not path.is_relative_to(ROOT):
        return None
    if path == ROOT / "README.md":
        return "index.md"
    if path.parent == ROOT and path.name in PAGES:
        return path.name
    if (path / "README.md").is_file():
        path /= "README.md"
    if path.is_relative_to(ROOT / "docs") and path.is_file():
        return path.relative_to(ROOT / "docs").as_posix()
    return source_page(path)


def outside_fences(text, change):
    """`change` of everything but fenced code."""
    parts, at = [], 0
    for fence in FENCED.finditer(text):
        parts += [change(text[at:fence.start()]), fence.group()]
        at = fence.end()
    return "".join(parts) + change(text[at:])


def folder_of(file):
    """The folder of the repository that the links of a page are relative to."""
    if file.src_uri == "index.md" or file.src_uri in PAGES:
        return ROOT
    if file.src_uri.startswith("files/"):
        return (ROOT / file.src_uri[len("files/"):]).parent
    return (ROOT / "docs" / file.src_uri).parent


def on_files(files, config):
    def add(uri, content):
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, content=content))

    add("index.md", (ROOT / "README.md").read_text().replace('<img src="docs/', '<img src="'))  # links are seen to below
    for name in PAGES:
        add(name, (ROOT / name).read_text())
    for file in [f for f in files if f.is_documentation_page()]:
        folder = folder_of(file)
        for link in LINK.finditer(file.content_string):
            if is_remote(link.group(2)):
                continue
            target = target_of(link.group(2), folder)
            if target is not None and target.startswith("files/"):
                add(target, text_of(ROOT / target[len("files/"):-len(".md")]))
    return files


def on_page_markdown(markdown, page, config, files):
    here = posixpath.dirname(page.file.src_uri)

    def moved(link):
        if is_remote(link.group(2)):
            return link.group()
        target = target_of(link.group(2), folder_of(page.file))
        return link.group() if target is None else link.group(1) + posixpath.relpath(target, here or ".") + link.group(3)

    return outside_fences(markdown, lambda text: LINK.sub(moved, text))


def on_page_content(content, page, config, files):
    found = FORMULA.findall(content)
    if not found:
        return content
    formulas = [[html.unescape(source).strip(), bracket == "["] for _, bracket, source in found]
    typeset = subprocess.run(["node", HERE / "typeset.mjs"], input=json.dumps(formulas), capture_output=True, text=True, check=True)
    results = iter(json.loads(typeset.stdout))
    return FORMULA.sub(lambda _: next(results), content)


def with_local_shim(output, folder):
    """Search from disk needs a script that the theme would fetch from elsewhere."""
    return SHIM.sub(posixpath.relpath("iframe-worker.js", folder or "."), output)


def on_post_page(output, page, config):
    return with_local_shim(output, posixpath.dirname(page.file.dest_uri))


def on_post_template(output, template_name, config):
    return with_local_shim(output, "")


def on_post_build(config):
    katex = HERE / "node_modules/katex/dist"
    site = Path(config["site_dir"])
    style = site / "katex"
    shutil.copy(HERE / "node_modules/iframe-worker/shim/index.js", site / "iframe-worker.js")
    shutil.copytree(katex / "fonts", style / "fonts", ignore=shutil.ignore_patterns("*.ttf", "*.woff"), dirs_exist_ok=True)
    shutil.copy(katex / "katex.min.css", style)
