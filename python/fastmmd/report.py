"""What a detector says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .samples import pyplot

#: Verdicts on a row, by their codes in ``Prediction.verdict``.
VERDICTS = _native.VERDICTS
ALARM = VERDICTS.index("alarm")


@dataclass(frozen=True)
class Alarm:
    """Something has changed."""

    #: The row it was raised on, counted from 0 over all rows.
    row: int
    #: The row on which the change seems to have begun.
    since: int
    #: The channel that changed most, counted from 0.
    channel: int
    #: Its name.
    channel_name: str
    #: What about it changed: level, spread, shape, outliers, stuck or missing.
    change: str
    #: Which leg found it.
    leg: str
    #: Rows that the statistic looks back over; 0 for a cumulative sum.
    window: int
    #: The statistic, in the units of ``LegStatus.statistic``.
    score: float
    #: The threshold that it passed.
    threshold: float

    @property
    def severity(self) -> float:
        """How far beyond the threshold, as a factor."""
        return self.score / self.threshold


@dataclass(frozen=True)
class LegStatus:
    """One statistic against its threshold."""

    leg: str
    #: ``None`` for all channels together.
    channel: int | None
    #: Rows that it looks back over; 0 for a cumulative sum.
    window: int
    #: Of a mean or a cumulative sum: in deviations; of a joint leg: MMD times the root of the window;
    #: of the range: in nats; of a run: in rows.
    statistic: float
    threshold: float

    @property
    def ratio(self) -> float:
        """The statistic over its threshold."""
        return self.statistic / self.threshold


@dataclass(frozen=True)
class Open:
    """Something that differs from what was learned, now."""

    leg: str
    #: ``None`` for all channels together.
    channel: int | None
    #: Rows since an alarm was last raised for it.
    rows: int
    #: Now. Of a level: its shift in deviations. Of a run: its length over the longest that is no alarm.
    #: Else: the statistic over its threshold, which may be below 1 until it is over.
    size: float


@dataclass(frozen=True)
class Mute:
    """A statistic that cannot fire: the promise is too long for it."""

    leg: str
    channel: int | None
    window: int


@dataclass(frozen=True)
class ChannelQuality:
    """What is known of a channel after learning."""

    level: float
    #: 0 for a channel that has not moved.
    deviation: float
    #: Part of the rows whose reading was the same as the one before.
    ties: float
    #: Part of the rows without a reading.
    missing: float
    #: How far the second half of the learning rows lies above the first.
    rise: float
    #: steady, doubtful or wandering.
    steadiness: str
    #: So many independent rows would tell the level as well.
    independent_rows: float
    #: The longest promise that learning from this channel supports, in rows.
    supported_mean_time: float


@dataclass(frozen=True)
class Quality:
    """How good the learning rows were, and for what."""

    #: By the names of the channels.
    channels: dict[str, ChannelQuality]
    #: The statistics that cannot fire.
    mute: list[Mute]
    #: What the settings promise and cannot be trusted to keep.
    warnings: list[str]
    #: The longest promise that all of it supports, in rows.
    supported_mean_time: float


@dataclass(frozen=True, eq=False)
class Prediction(Mapping[str, dict[str, Any]]):
    """What a detector said about rows.

    Also a mapping with ``data`` and ``meta``, as users of alibi-detect know it.
    """

    #: Number of the first row, counted over all rows of the detector.
    first_row: int
    #: A code for each row: its place in ``VERDICTS``.
    verdict: NDArray[np.uint8]
    #: The statistic nearest to its threshold, for each row; NaN while learning.
    statistic: NDArray[np.float32]
    #: Its threshold.
    threshold: NDArray[np.float32]
    #: Alarms in the order of their rows, as they were amended.
    alarms: list[Alarm]
    #: The promise, in rows.
    mean_time_between_false_alarms: float

    @property
    def is_drift(self) -> bool:
        """Whether there was an alarm."""
        return bool((self.verdict == ALARM).any())

    def __getitem__(self, key: str) -> dict[str, Any]:
        """``data`` or ``meta``."""
        if key == "data":
            return {
                "is_drift": int(self.is_drift),
                "time": self.first_row + len(self.verdict),
                "ert": self.mean_time_between_false_alarms,
                "test_stat": self.statistic,
                "threshold": self.threshold,
                "alarms": [asdict(alarm) for alarm in self.alarms],
            }
        if key == "meta":
            return {"name": "DriftDetector", "online": True, "detector_type": "drift"}
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(("data", "meta"))

    def __len__(self) -> int:
        """Return the number of keys."""
        return 2

    def plot(self, ax: Any = None) -> Any:
        """Draw the statistic over its threshold, and the alarms. Returns matplotlib's axes."""
        ax = pyplot().subplots()[1] if ax is None else ax
        rows = np.arange(self.first_row, self.first_row + len(self.verdict))
        ax.plot(rows, self.statistic / self.threshold, linewidth=0.8)
        ax.axhline(1.0, color="grey", linestyle="--", linewidth=0.8)
        for alarm in self.alarms:
            what = f"{alarm.channel_name}: {alarm.change}"
            ax.axvline(alarm.row, color="tab:red", linewidth=0.8, label=what)
            ax.axvspan(alarm.since, alarm.row, color="tab:red", alpha=0.2)
        if self.alarms:
            ax.legend(loc="upper left", fontsize="small")
        ax.set_xlabel("row")
        ax.set_ylabel("statistic over its threshold")
        return ax
