"""The same bits as the detector with its shape in the type, over 200,000 rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fastmmd import DriftDetector

ROWS = 200_000

SETTINGS = {
    # Every default of the core.
    "default": {"missing": "error"},
    # Every default of the package and of the tool.
    "missing": {},
    "period": {"period": 500.0, "learning_rows": 4096},
}


def signal(setting: str) -> np.ndarray:
    """Noise with memory and a cycle, and faults of every kind."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(ROWS, 3))
    for at in range(1, ROWS):
        rows[at, 1] += 0.8 * rows[at - 1, 1]
    if setting == "period":
        rows[:, 0] += 5.0 * np.sin(np.arange(ROWS) * 2 * np.pi / 500.0)
    rows[30_000:33_000, 0] += 1.0
    rows[60_000:61_000, 1] *= 3.0
    rows[90_000:90_500, 2] = rows[90_000, 2]
    rows[120_000:, 2] += np.linspace(0.0, 4.0, ROWS - 120_000)
    rows[150_000:150_200, 0] *= -1.0
    if setting != "default":
        rows[rng.random((ROWS, 3)) < 0.01] = np.nan
        rows[170_000:170_300, 1] = np.nan
    return rows.astype(np.float32) * np.float32(0.37) + np.float32(21.0)


@pytest.fixture(params=SETTINGS, scope="module")
def compared(request, tmp_path_factory, parity):
    """A setting, its rows, and what the Rust program says."""
    setting, rows = request.param, signal(request.param)
    folder: Path = tmp_path_factory.mktemp(setting)
    file = folder / "rows.f32"
    file.write_bytes(rows.tobytes())
    alarms = parity(setting, str(file)).stdout.splitlines()
    said = (folder / "rows.f32.said").read_bytes()
    state = (folder / "rows.f32.state").read_bytes()
    return setting, rows, alarms, said, state


def pack(verdict: np.ndarray, statistic: np.ndarray, threshold: np.ndarray) -> bytes:
    packed = np.empty(len(verdict), dtype=[("v", "u1"), ("s", "<f4"), ("t", "<f4")])
    packed["v"], packed["s"], packed["t"] = verdict, statistic, threshold
    return packed.tobytes()


def test_the_same_bits(compared) -> None:
    setting, rows, alarms, said, state = compared
    detector = DriftDetector(3, **SETTINGS[setting])
    verdict, statistic, threshold, told = detector._core.push_rows(rows, True)
    same = pack(verdict, statistic, threshold) == said
    assert same
    lines = []
    for alarm, amended in told:
        score, limit = np.array([alarm["score"], alarm["threshold"]], "<f4").view("<u4")
        numbers = f"{3 if amended else 2} {alarm['row']} {alarm['since']} {alarm['channel']}"
        words = f"{alarm['change']} {alarm['leg']} {alarm['window']}"
        lines.append(f"{numbers} {words} {score:08x} {limit:08x}")
    assert lines == alarms
    assert len(lines) > 10
    assert detector.save() == state
    # What the package says itself, in pieces.
    pieces = DriftDetector(3, **SETTINGS[setting])
    found = [pieces.predict(part) for part in np.array_split(rows, 7)]
    joined = [np.concatenate([getattr(it, name) for it in found]) for name in NAMES]
    same = pack(*joined) == said
    assert same
    assert pieces.save() == state
    raised = {int(line.split()[1]) for line in alarms if line.startswith("2")}
    assert {alarm.row for it in found for alarm in it.alarms} == raised


NAMES = ["verdict", "statistic", "threshold"]


def test_the_comparison_can_fail(compared) -> None:
    # The control: one bit of one reading in 200,000 rows, the third decimal.
    setting, rows, _, said, state = compared
    altered = rows.copy()
    altered.view(np.uint32)[3000, 0] ^= 1 << 10
    detector = DriftDetector(3, **SETTINGS[setting])
    found = detector.predict(altered)
    same = pack(found.verdict, found.statistic, found.threshold) == said
    assert not same
    assert detector.save() != state
