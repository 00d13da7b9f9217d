"""From a healthy log to settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from .detector import DriftDetector
from .samples import MOST, real, single, table, text, whole

_ROWS = 2**32 - 1
#: The map of the command fastmmd.
_TOOL = {"kernel": "gaussian", "bandwidth": 1.0, "sampling": "additive"}


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True)
class Change:
    """How one kind of change, injected into one channel, was found."""

    channel: int
    #: step, ramp, spread up, spread down, stuck or dropouts.
    change: str
    #: In deviations, or as a factor of the spread.
    size: float | None
    found: int
    tried: int
    #: In rows, of those that were found.
    median_delay: int | None


@dataclass(frozen=True)
class Candidate:
    """Settings, and what they gave on the log."""

    #: Parameters of ``DriftDetector``.
    settings: dict[str, Any]
    #: Alarms without an injected change, in the rows after learning.
    false_alarms: int
    #: So many are promised.
    expected_false_alarms: float
    #: Whether the number is plausible for the promise, and nothing differs at the end.
    keeps_promise: bool
    #: Rows after learning.
    watched: int
    #: Rows within which a change had to be found.
    within: int
    found: int
    tried: int
    #: The longest promise that learning supports, by the worst channel, in rows.
    supported_mean_time: float
    changes: list[Change]


@dataclass(frozen=True)
class Tuned:
    """What ``tune`` found."""

    channels: list[str]
    #: Length in rows of the cycle that was found, whether it is used or not.
    cycle: float | None
    #: For each channel, the part of the variance that the cycle explains.
    cycle_explains: list[float] | None
    #: All that was tried: with the same promise, and the best of it with its own if that is longer.
    candidates: list[Candidate]
    #: The one that keeps its promise and finds most, of equal ones the quickest.
    best: Candidate

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of ``DriftDetector``."""
        return dict(self.best.settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings as the command fastmmd reads them: ``fastmmd export --settings``.

        The command has one map: a Gaussian kernel of bandwidth 1 with additive sampling.
        """
        given = self.best.settings
        for name, value in _TOOL.items():
            if given[name] != value:
                raise ValueError(f"{name}: the command fastmmd has {value!r} alone")
        names = ", ".join(_quoted(name) for name in self.channels)
        lines = ["# fastmmd.tune", "# fastmmd export LOG --settings FILE -o reference.bin"]
        lines += [f"columns = [{names}]", f"missing = {_quoted(given['missing'])}"]
        lines.append(f"learn = {given['learning_rows']}")
        if given["period"] is not None:
            lines.append(f"period = {given['period']!r}")
        promise = given["mean_time_between_false_alarms"]
        lines.append(f"mean-time-between-false-alarms = {promise!r}")
        lines += [f"features = {given['frequencies']}", f"seed = {given['seed']}"]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def detector(self) -> DriftDetector:
        """Return a new detector with these settings and channels."""
        return DriftDetector(self.channels, **self.settings)


def tune(
    X: object,
    *,
    mean_time_between_false_alarms: float | None = None,
    learning_rows: int | None = None,
    period: float | None = None,
    missing: str = "reading",
    kernel: str = "gaussian",
    bandwidth: float = 1.0,
    sampling: str = "additive",
    seed: int = 1,
    frequencies: int = 32,
    within: int | None = None,
) -> Tuned:
    """Find settings for a log whose rows are all healthy, and try them.

    It looks for a cycle, learns from the first rows with and without it, and injects steps, ramps,
    changes of spread, stuck and lost readings into the rest, as ``fastmmd tune`` does. A change has to
    be found ``within`` so many rows: 1000, or a third of the rest. What is given is not chosen.
    """
    promise = mean_time_between_false_alarms
    rows, own = table("X", X)
    names = own or [str(it) for it in range(rows.shape[1])]
    told = _native.tune(
        single(rows),
        names,
        mean_time_between_false_alarms=None
        if promise is None
        else real("mean_time_between_false_alarms", promise),
        learning_rows=None if learning_rows is None else whole("learning_rows", learning_rows, 0, _ROWS),
        period=None if period is None else real("period", period),
        missing=text("missing", missing),
        kernel=text("kernel", kernel),
        bandwidth=real("bandwidth", bandwidth),
        sampling=text("sampling", sampling),
        seed=whole("seed", seed, 0, 2**64 - 1),
        frequencies=whole("frequencies", frequencies, 1, MOST),
        within=None if within is None else whole("within", within, 1, _ROWS),
    )
    candidates = [
        Candidate(**{**it, "changes": [Change(**change) for change in it["changes"]]})
        for it in told["candidates"]
    ]
    best = candidates[told["best"]]
    return Tuned(names, told["cycle"], told["cycle_explains"], candidates, best)
