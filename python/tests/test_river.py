"""The loop of river's documentation of ADWIN runs with one line changed."""

from __future__ import annotations

import random

import tolerance

import fastmmd

LOOP = """
import random
from river import drift

rng = random.Random(12345)
detector = drift.ADWIN()

data_stream = rng.choices([0, 1], k=1000) + rng.choices(range(4, 8), k=1000)

for i, val in enumerate(data_stream):
    detector.update(val)
    if detector.drift_detected:
        found.append(i)
"""


def run(loop: str) -> list[int]:
    found: list[int] = []
    exec(loop, {"found": found})
    return found


def test_one_line_is_changed() -> None:
    line = "detector = drift.ADWIN()"
    own = "import fastmmd; detector = fastmmd.DriftDetector(1, 1e6, learning_rows=512)"
    ours = LOOP.replace(line, own)
    changed = [a for a, b in zip(LOOP.splitlines(), ours.splitlines(), strict=True) if a != b]
    assert changed == [line]
    theirs, found = run(LOOP), run(ours)
    # Both find the change at row 1000, and nothing before it.
    assert 1000 <= theirs[0] < 1000 + tolerance.ADWIN
    assert 1000 <= found[0] < 1000 + tolerance.AT_ONCE
    # The control: without the change neither finds it.
    quiet = "rng.choices([0, 1], k=2000)"
    still = "rng.choices([0, 1], k=1000) + rng.choices(range(4, 8), k=1000)"
    assert run(ours.replace(still, quiet)) == []


def test_rows_of_river_are_mappings() -> None:
    rng = random.Random(1)
    detector = fastmmd.DriftDetector(None, 1e6, learning_rows=512)
    found = []
    for i in range(1500):
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1) + (i >= 1000) * 3}
        detector.update(x)
        if detector.drift_detected:
            found.append(detector.alarm.channel_name)
    assert found[0] == "b"
