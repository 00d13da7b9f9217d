"""Plots, and what is said where matplotlib is not installed."""

from __future__ import annotations

import sys

import matplotlib
import pytest
from conftest import LEARNED, healthy, shifted

from fastmmd import DriftDetector, MissingDependencyError

matplotlib.use("agg")


def test_plots_show_what_was_said(tmp_path) -> None:
    detector = DriftDetector(["a", "b", "c"], learning_rows=LEARNED).learn(healthy(LEARNED))
    said = detector.predict(shifted(300, at=100))
    ax = said.plot()
    assert len(ax.lines[0].get_xdata()) == 300
    # Statistic, threshold, and a line for each alarm.
    assert len(ax.lines) == 2 + len(said.alarms)
    ax.figure.savefig(tmp_path / "said.svg")
    bars = detector.plot()
    assert len(bars.patches) == len(detector.legs)
    assert any("b: level" in label.get_text() for label in bars.get_yticklabels())
    # On axes of the caller's own.
    assert said.plot(ax) is ax
    assert detector.plot(bars) is bars


def test_without_matplotlib_the_error_says_so(monkeypatch) -> None:
    detector = DriftDetector(3, learning_rows=LEARNED)
    said = detector.predict(healthy(LEARNED))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for plot in [detector.plot, said.plot]:
        with pytest.raises(MissingDependencyError, match="pip install 'fastmmd\\[plot\\]'"):
            plot()
