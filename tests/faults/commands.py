"""The commands that meet faults: small, quick, and each with the files it writes."""
import re
import shutil

from fault_support import ROOT, remove_ledger

EXAMPLES = ROOT / "examples"


class Command:
    """What is run, where its files go, and what both are when nothing goes wrong."""

    def __init__(self, name, args, outputs=(), ledger=None):
        self.name, self.args, self.outputs, self.ledger = name, args, list(outputs), ledger
        self.reference = self.written = None

    def prepare(self, whole):
        """Nothing written yet, and a ledger without looks."""
        for path in self.outputs:
            path.unlink(missing_ok=True)
        if self.ledger is not None:
            remove_ledger(self.ledger)
            shutil.copyfile(whole, self.ledger)

    def files(self):
        """Contents; a page may say that its input could not be read once more, for its checksum."""
        return {path.name: re.sub(rb"\b[0-9a-f]{64}\b|could not be read again", b"(checksum)", path.read_bytes())
                for path in self.outputs if path.exists()}

    def remember(self, outcome):
        self.reference, self.written = outcome, self.files()

    def answered(self, outcome):
        """Ended as without a fault, with the same text and the same files."""
        return (outcome.code, outcome.out) == (self.reference.code, self.reference.out) and self.files() == self.written

    def left_torn(self):
        """The files that are there and not whole."""
        return [name for name, content in self.files().items() if content != self.written[name]]


def commands(directory):
    """All but `study run`, which has a resumption to be judged by."""
    ledger = directory / "copy.ledger"
    table = directory / "rows.csv"
    covariance = directory / "noise.npz"
    trials = directory / "trials.npz"
    page = directory / "page.html"
    diabetes = ["rows", EXAMPLES / "rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum",
                "--ridge", "1", "--noise", "1", "--standardise", EXAMPLES / "rows/public.csv", "--threads", "1"]
    return [
        Command("rows", [*diabetes, "--out", table, "--force"], [table]),
        Command("quadratic", ["quadratic", EXAMPLES / "quadratic/files.toml"]),
        Command("bound", ["bound", EXAMPLES / "bound/shift.toml", "--times", "1", "--json"]),
        Command("design", ["design", EXAMPLES / "design/differences.csv", "--differences-are", "public", "--form", "full",
                           "--trace", "2", "--out", covariance, "--force"], [covariance]),
        Command("audit of scores", ["audit", "--members", EXAMPLES / "audit/in.csv", "--nonmembers",
                                    EXAMPLES / "audit/out.csv", "--unit", "models"]),
        Command("audit of a ledger", ["audit", ledger], ledger=ledger),
        Command("status", ["study", "status", ledger], ledger=ledger),
        Command("export", ["study", "export", ledger, "--out", trials, "--force"], [trials], ledger=ledger),
        Command("report", ["report", ledger, "--out", page, "--force"], [page, page.with_suffix(".json")], ledger=ledger),
    ]
