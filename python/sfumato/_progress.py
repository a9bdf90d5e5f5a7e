"""How far long work is: a bar of tqdm, where tqdm is installed and somebody looks."""

from __future__ import annotations

import sys


class Bar:
    """Called with (stage, done, total); made before the work and closed after it."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._bar = None
        self._stage = None
        self._tqdm = None

    def __call__(self, stage, done, total):
        if self._tqdm is None:
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
            except ImportError:
                tqdm = False
            self._tqdm = tqdm
        if not self._tqdm:
            return
        if stage != self._stage:
            self.close()
            self._bar = self._tqdm(total=total, desc=stage, leave=False)
            self._stage = stage
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _watched():
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


def bar_for(progress):
    """What the library calls: None for nobody. `progress` is True, False, a function, or None for whether somebody looks."""
    if callable(progress):
        return progress
    if progress is None:
        progress = _watched()
    return Bar(progress) if progress else None


def close(bar):
    if isinstance(bar, Bar):
        bar.close()
