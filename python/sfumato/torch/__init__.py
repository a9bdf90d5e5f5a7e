"""Sfumato beside PyTorch: audits of your own training, private and anisotropic noise on any optimiser, scores and gradients.

    from sfumato.torch import PrivateOptimizer, audit_training

Needs torch 2.0 or newer, which the package itself does not.
"""

try:
    import torch as _torch
except ImportError:
    raise ImportError("sfumato.torch needs PyTorch 2.0 or newer: pip install torch") from None
if not hasattr(_torch, "func"):
    raise ImportError(f"sfumato.torch needs PyTorch 2.0 or newer, this is {_torch.__version__}")

from .auditing import TrainingAudit, TrainingPlan, audit_training
from .gradients import per_sample_gradients, record_gradient_differences
from .loading import PrivateLoader
from .making import make_private
from .noise import AnisotropicSGD
from .opacus import accountant_from_opacus, compare_with_opacus, register_with_opacus
from .paths import path_kl
from .private import Guarantee, PrivateOptimizer
from .scoring import scores
from .shaping import Shape
from .states import load_parameters, save_parameters, vector_of
from .training import PrivateTraining

__all__ = [
    "AnisotropicSGD",
    "Guarantee",
    "PrivateLoader",
    "PrivateOptimizer",
    "PrivateTraining",
    "Shape",
    "TrainingAudit",
    "TrainingPlan",
    "accountant_from_opacus",
    "audit_training",
    "compare_with_opacus",
    "load_parameters",
    "make_private",
    "path_kl",
    "per_sample_gradients",
    "record_gradient_differences",
    "register_with_opacus",
    "save_parameters",
    "scores",
    "vector_of",
]
