"""Docstrings as Markdown: their doctests become fenced code."""
import griffe


def fenced(text):
    """`text` with fences around runs of lines that begin with a prompt and what they print."""
    lines, inside = [], False
    for line in text.splitlines():
        starts = line.lstrip().startswith(">>>")
        if starts and not inside:
            lines += ["", "```pycon"]
        elif inside and not line.strip():
            lines.append("```")
        inside = starts or (inside and bool(line.strip()))
        lines.append(line)
    return "\n".join(lines + ["```"] * inside)


class Doctests(griffe.Extension):
    def on_object(self, *, obj, **kwargs):
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
