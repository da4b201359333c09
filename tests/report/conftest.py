"""Fixtures that tests of figures share."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from probzero.report import style


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are drawn in the test; none is written."""
    figures: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: figures.append(figure))
    return figures
