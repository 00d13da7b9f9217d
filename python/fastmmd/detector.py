"""The detector, as users of river and alibi-detect know one."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .report import (
    ALARM,
    Alarm,
    ChannelQuality,
    LegStatus,
    Mute,
    Open,
    Prediction,
    Quality,
)
from .samples import MOST, in_order, is_flat, named, pyplot, real, row_of, single, table, text, whole

#: Learning rows if nothing says how many.
LEARNING_ROWS = 4096
_ROWS = 2**32 - 1


def _alarm(told: dict[str, Any], names: list[str]) -> Alarm:
    return Alarm(channel_name=names[told["channel"]], **told)


class DriftDetector:
    """Reports when the distribution of readings has changed, since when, where and how.

    It learns from healthy rows and then compares rows with that; results and saved bytes are those of
    the device. Parameters:

    channels
        Number of channels, or their names. By default the first row or table says.
    mean_time_between_false_alarms
        The promise, in rows. By default 10,000, or as long as the learning rows support.
    learning_rows
        Rows to learn from, 256 to 4,194,304. By default 4096, or all rows of the first ``learn``.
    period
        Length in rows of a cycle that the signal is known to have; learning has to hold four.
    relearn_after
        A drift that lasts for so many rows is learned as healthy. By default never.
    missing
        What NaN means: a missing "reading" of its channel, or an "error".
    kernel, bandwidth, sampling, seed, frequencies
        The map of the joint legs. The bandwidth is in deviations of a channel.

    A call that is refused raises ``TypeError`` or ``ValueError`` and changes nothing. Several threads
    may use one detector once its channels are known; long calls let the others run.
    """

    def __init__(
        self,
        channels: int | Sequence[str] | None = None,
        mean_time_between_false_alarms: float | None = None,
        *,
        learning_rows: int | None = None,
        period: float | None = None,
        relearn_after: int | None = None,
        missing: str = "reading",
        kernel: str = "gaussian",
        bandwidth: float = 1.0,
        sampling: str = "additive",
        seed: int = 1,
        frequencies: int = 32,
    ) -> None:
        """Check all parameters."""
        promise = mean_time_between_false_alarms
        # The very objects, which scikit-learn's clone compares.
        self._given: dict[str, Any] = {
            "channels": channels,
            "mean_time_between_false_alarms": promise,
            "learning_rows": learning_rows,
            "period": period,
            "relearn_after": relearn_after,
            "missing": missing,
            "kernel": kernel,
            "bandwidth": bandwidth,
            "sampling": sampling,
            "seed": seed,
            "frequencies": frequencies,
        }
        self._names, count = named(channels)
        self._channels = count
        self._learning_rows = (
            None if learning_rows is None else whole("learning_rows", learning_rows, 0, _ROWS)
        )
        self._settings: dict[str, Any] = {
            "mean_time_between_false_alarms": None
            if promise is None
            else real("mean_time_between_false_alarms", promise),
            "period": None if period is None else real("period", period),
            "relearn_after": None
            if relearn_after is None
            else whole("relearn_after", relearn_after, 0, _ROWS),
            "missing": text("missing", missing),
            "kernel": text("kernel", kernel),
            "bandwidth": real("bandwidth", bandwidth),
            "sampling": text("sampling", sampling),
            "seed": whole("seed", seed, 0, 2**64 - 1),
            "frequencies": whole("frequencies", frequencies, 1, MOST),
        }
        # Made even if the channels are not known, to refuse bad settings here.
        core = self._made(self._names or [str(it) for it in range(count or 1)])
        self._core: _native.Detector | None = core if count else None

    def _made(self, names: list[str], learning_rows: int | None = None) -> _native.Detector:
        rows = self._learning_rows if learning_rows is None else learning_rows
        if rows is None:
            rows = LEARNING_ROWS
            period = self._settings["period"]
            # The core says what it thinks of such a period.
            if period is not None and 4.0 <= period <= 2.0**20:
                rows = max(rows, math.ceil(8 * period))
                rows = min(rows, 2**22)
        return _native.Detector(names, learning_rows=rows, **self._settings)

    def _core_of(self, width: int, names: list[str] | None) -> _native.Detector:
        """Return the detector, made for rows of this width and names if it has seen nothing yet."""
        known = self._names is not None or names is None
        if self._core is not None and (known or self._core.rows > 0):
            return self._core
        return self._made(names or [str(it) for it in range(width)])

    def _rows(self, name: str, X: object) -> tuple[NDArray[np.float32], list[str] | None]:
        rows, own = table(name, X)
        if self._channels is not None and rows.shape[1] != self._channels:
            raise ValueError(f"{name}: {rows.shape[1]} columns for {self._channels} channels")
        rows = in_order(name, rows, own, self._names)
        return single(rows), self._names or own

    def _keep(self, core: _native.Detector, names: list[str] | None) -> None:
        self._core, self._channels = core, len(core.names)
        self._names = self._names or names

    # Rows.

    def update(self, x: object) -> None:
        """Take one row: a number, a sequence of them, or a mapping from names to numbers."""
        row, names = row_of(x, self._names)
        if self._channels is not None and len(row) != self._channels:
            raise ValueError(f"x: {len(row)} readings for {self._channels} channels")
        core = self._core_of(len(row), names)
        core.push(row)
        self._keep(core, names)

    def learn(self, X: object) -> DriftDetector:
        """Learn from healthy rows, until learning is complete; later rows are left out.

        If ``learning_rows`` was not given and no row was seen, it becomes the number of these rows.
        Rows may come in several calls: ``rows_to_learn`` says how many are left.
        """
        rows, names = self._rows("X", X)
        core = self._core_of(rows.shape[1], names)
        if self._learning_rows is None and core.rows == 0:
            core = self._made(core.names, len(rows))
        elif core.stage != "learning":
            raise RuntimeError("learn: the detector has learned; relearn() forgets that")
        core.push_rows(rows, False)
        self._keep(core, names)
        return self

    def fit(self, X: object, y: object = None) -> DriftDetector:
        """Forget what was learned, and learn from these rows: scikit-learn's ``fit``.

        With ``learning_rows`` there must be as many, or else rows to predict would be learned from;
        ``learn`` takes fewer. Rows after those are left out.
        """
        rows, names = self._rows("X", X)
        if self._learning_rows is not None and len(rows) < self._learning_rows:
            raise ValueError(
                f"fit: {len(rows)} rows for learning_rows={self._learning_rows}; give as many, "
                "or leave learning_rows out to learn from all, or call learn to go on later"
            )
        count = len(rows) if self._learning_rows is None else None
        core = self._made(names or [str(it) for it in range(rows.shape[1])], count)
        core.push_rows(rows, False)
        self._keep(core, names)
        return self

    def predict(self, X: object) -> Prediction:
        """Take rows one after the other, and return what was said about each.

        A sequence of numbers is one row, if there are several channels.
        """
        if self._channels is not None and self._channels > 1 and is_flat(X, self._channels):
            row, names = row_of(X, self._names)
            rows = single(np.array([row]))
        else:
            rows, names = self._rows("X", X)
        core = self._core_of(rows.shape[1], names)
        first = core.rows
        verdict, statistic, threshold, told = core.push_rows(rows, True)
        self._keep(core, names)
        alarms: dict[int, Alarm] = {}
        for fields, amended in told:
            alarm = _alarm(fields, self.channels)
            # One that amends an alarm of an earlier call stands in ``alarm``.
            if not amended or alarm.row in alarms:
                alarms[alarm.row] = alarm
        promise = float(core.settings["mean_time_between_false_alarms"])
        return Prediction(first, verdict, statistic, threshold, list(alarms.values()), promise)

    def skip(self, rows: int) -> None:
        """Say that so many rows passed that were never given: a known cycle goes on."""
        rows = whole("rows", rows, 0, _ROWS)
        if self._core is not None:
            self._core.skip(rows)

    def relearn(self) -> None:
        """Forget what was learned, and learn anew from the rows to come."""
        if self._core is not None:
            self._core.relearn()

    def dismiss(self) -> None:
        """Accept what differs now: it closes, and the same does not alarm again."""
        if self._core is not None:
            self._core.dismiss()

    # What is known.

    @property
    def channels(self) -> list[str]:
        """The names of the channels; their numbers if they have none."""
        if self._names is not None:
            return list(self._names)
        return [str(it) for it in range(self._channels or 0)]

    @property
    def settings(self) -> dict[str, Any]:
        """All settings in use, by the names of the parameters."""
        return dict((self._core or self._made(["0"])).settings)

    @property
    def drift_detected(self) -> bool:
        """Whether the last row raised an alarm."""
        return self._core is not None and self._core.last == ALARM

    @property
    def stage(self) -> str:
        """What it is doing: learning, monitoring, or drift while something differs."""
        return "learning" if self._core is None else self._core.stage

    state = stage

    @property
    def alarm(self) -> Alarm | None:
        """The last alarm, as it was amended."""
        told = None if self._core is None else self._core.last_alarm
        return None if told is None else _alarm(told, self.channels)

    @property
    def statistic(self) -> float | None:
        """The statistic nearest to its threshold, after the last row; ``None`` while learning."""
        near = self.nearest
        return None if near is None else near.statistic

    @property
    def threshold(self) -> float | None:
        """The threshold of ``statistic``."""
        near = self.nearest
        return None if near is None else near.threshold

    @property
    def nearest(self) -> LegStatus | None:
        """Which statistic is nearest to its threshold, or farthest beyond it."""
        told = None if self._core is None else self._core.nearest
        return None if told is None else LegStatus(**told)

    @property
    def legs(self) -> list[LegStatus]:
        """Every statistic; nothing while learning."""
        return [] if self._core is None else [LegStatus(**it) for it in self._core.legs]

    @property
    def open(self) -> list[Open]:
        """Everything that differs now."""
        return [] if self._core is None else [Open(**it) for it in self._core.open]

    @property
    def rows(self) -> int:
        """Rows taken in all."""
        return 0 if self._core is None else self._core.rows

    @property
    def rows_to_learn(self) -> int:
        """Rows still to learn from."""
        return (self._core or self._made(["0"])).rows_to_learn

    @property
    def quality(self) -> Quality:
        """How good the learning rows were, and for what."""
        core = self._core or self._made(["0"])
        each = [ChannelQuality(**it) for it in core.quality]
        supported = min([core.supported_mean_time, *(it.supported_mean_time for it in each)])
        channels = dict(zip(self.channels, each, strict=True)) if self._core else {}
        mute = [Mute(**it) for it in core.mute]
        return Quality(channels, mute, core.warnings, supported)

    def plot(self, ax: Any = None) -> Any:
        """Draw every statistic over its threshold. Returns matplotlib's axes."""
        ax = pyplot().subplots()[1] if ax is None else ax
        names, legs = self.channels, self.legs
        labels = [
            f"{'all channels' if it.channel is None else names[it.channel]}: {it.leg}"
            + (f" over {it.window}" if it.window else "")
            for it in legs
        ]
        colours = ["tab:red" if it.ratio >= 1.0 else "tab:blue" for it in legs]
        ax.barh(range(len(legs)), [it.ratio for it in legs], color=colours)
        ax.set_yticks(range(len(legs)), labels, fontsize="x-small")
        ax.axvline(1.0, color="grey", linestyle="--", linewidth=0.8)
        ax.set_xlabel("statistic over its threshold")
        ax.set_title(f"{self.stage}, {self.rows} rows")
        return ax

    # Keeping it.

    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Return the bytes that a device saves, and write them to a file if there is a path.

        Names of channels are not part of them.
        """
        if self._core is None:
            raise RuntimeError("save: the number of channels is not known yet")
        state = self._core.save()
        if path is not None:
            Path(path).write_bytes(state)
        return state

    @classmethod
    def load(
        cls,
        source: bytes | bytearray | memoryview | str | os.PathLike[str],
        channels: Sequence[str] | None = None,
    ) -> DriftDetector:
        """Return the detector of saved bytes or of a file, of a device or of ``fastmmd export``.

        A device with rows of 16-bit integers has other bytes, which are refused.
        """
        if isinstance(source, (bytes, bytearray, memoryview)):
            state = bytes(source)
        elif isinstance(source, (str, os.PathLike)):
            state = Path(source).read_bytes()
        else:
            raise TypeError(f"source: must be bytes or a path, not {type(source).__name__}")
        names, _ = named(channels)
        if channels is not None and names is None:
            raise TypeError("channels: must be names; the bytes say how many there are")
        return cls._restored(_native.Detector.restored(state, names, None), names)

    @classmethod
    def _restored(cls, core: _native.Detector, names: list[str] | None) -> DriftDetector:
        it = cls.__new__(cls)
        it._names, it._channels, it._core = names, len(core.names), core
        it._settings = dict(core.settings)
        it._learning_rows = it._settings.pop("learning_rows")
        it._given = {
            "channels": names or it._channels,
            "learning_rows": it._learning_rows,
            **it._settings,
        }
        return it

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as they were given: scikit-learn's, whose ``clone`` needs them."""
        return dict(self._given)

    def set_params(self, **parameters: Any) -> DriftDetector:
        """Change parameters, and forget everything seen: scikit-learn's."""
        known = self.get_params()
        unknown = [name for name in parameters if name not in known]
        if unknown:
            raise ValueError(f"set_params: no parameter {unknown[0]!r}; there are {', '.join(known)}")
        if parameters:
            self.__dict__ = type(self)(**{**known, **parameters}).__dict__
        return self

    def clone(self) -> DriftDetector:
        """Return a detector with the same parameters that has seen nothing, as river's does."""
        it = type(self).__new__(type(self))
        it.__setstate__({**self.__getstate__(), "core": None, "last": None})
        if self._channels is not None:
            it._core = it._made(self._core.names if self._core else self.channels)
        return it

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings and the device's bytes: for pickle and copy."""
        core = self._core
        return {
            "names": self._names,
            "channels": self._channels,
            "learning_rows": self._learning_rows,
            "settings": dict(self._settings),
            "given": dict(self._given),
            "core": None if core is None else core.save(),
            "last": None if core is None else core.last,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take them back."""
        self._names, self._channels = state["names"], state["channels"]
        self._learning_rows = state["learning_rows"]
        self._settings = dict(state["settings"])
        self._given = dict(state["given"])
        core = state["core"]
        names = self.channels
        self._core = None
        if core is not None:
            self._core = _native.Detector.restored(core, names, state["last"])

    def __repr__(self) -> str:
        """Return channels, stage and rows."""
        names = ", ".join(self.channels) or "not known yet"
        return f"<DriftDetector, channels: {names}; {self.stage}, {self.rows} rows>"
