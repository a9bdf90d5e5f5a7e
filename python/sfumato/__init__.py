"""Sfumato measures and limits what a trained model reveals about one training record.

    import sfumato

    sfumato.epsilon(noise_multiplier=1.1, sample_rate=0.00427, steps=14062, delta=1e-5)   # what a private training guarantees
    sfumato.rows(df, target="y", ridge=100, noise=0.001).to_pandas()                         # what a regression reveals, row by row
    sfumato.audit(in_scores, out_scores, claim=(3, 1e-5)).verdict                         # do trained models refute a claim?

Every number about privacy is a `Claimed`: exact, a proven bound, or an estimate, and it says which. `sfumato.torch` works beside
PyTorch models. docs/python.md explains all of it.
"""

from ._answer import AccountAnswer, Answer, AuditAnswer, BoundAnswer, DesignAnswer, QuadraticAnswer, Result, RowsAnswer, Table
from ._core import Claimed, Enclosure, __version__
from ._quantities import Numbers
from .accounting import Accountant, account, epsilon, noise_multiplier
from .estimators import PrivateLogisticRegression, PrivateRidge
from .fitting import FitAnswer, fit
from .questions import audit, bound, design, keys, plan_audit, quadratic, report, rows, verify
from .study import Ledger, Study

__all__ = [
    "AccountAnswer",
    "Accountant",
    "Answer",
    "AuditAnswer",
    "BoundAnswer",
    "Claimed",
    "DesignAnswer",
    "Enclosure",
    "FitAnswer",
    "Ledger",
    "Numbers",
    "PrivateLogisticRegression",
    "PrivateRidge",
    "QuadraticAnswer",
    "Result",
    "RowsAnswer",
    "Study",
    "Table",
    "__version__",
    "account",
    "audit",
    "bound",
    "design",
    "epsilon",
    "fit",
    "keys",
    "noise_multiplier",
    "plan_audit",
    "quadratic",
    "report",
    "rows",
    "verify",
]
