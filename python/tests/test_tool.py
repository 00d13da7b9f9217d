"""The package and the command fastmmd: the same bytes, the same settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tolerance
from conftest import healthy, shifted, write_csv

from fastmmd import DriftDetector, tune

EXAMPLE = Path(__file__).parent.parent / "examples" / "log_to_device.py"
NAMES = ["a", "b", "c"]


def cycle(rows: int) -> np.ndarray:
    table = healthy(rows, 2).astype(np.float32)
    table[:, 0] += np.float32(6) * np.sin(np.arange(rows, dtype=np.float32) * np.float32(0.05))
    return table


LOGS = {
    "noise": (NAMES, healthy(6000)),
    "gaps": (
        NAMES,
        np.where(np.random.default_rng(3).random((6000, 3)) < 0.02, np.nan, healthy(6000)),
    ),
    "cycle": (["a", "b"], cycle(8000)),
    "drift": (NAMES, shifted(6000, at=5000)),
}


@pytest.fixture(params=LOGS)
def log(request, tmp_path: Path):
    names, rows = LOGS[request.param]
    path = tmp_path / "log.csv"
    write_csv(path, names, rows)
    return names, rows.astype(np.float32), path


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, []),
        ({"period": 125.66}, ["--period", "125.66"]),
        ({"seed": 9, "frequencies": 48}, ["--seed", "9", "--features", "48"]),
        ({"mean_time_between_false_alarms": 777}, ["--mean-time-between-false-alarms", "777"]),
        ({"relearn_after": 2000}, ["--relearn-after", "2000"]),
    ],
)
def test_learning_gives_the_bytes_of_export(log, tool, tmp_path, settings, options) -> None:
    names, rows, path = log
    out = tmp_path / "reference.bin"
    ran = tool("export", str(path), "-o", str(out), "--learn", "2000", *options)
    assert ran.returncode == 0, ran.stderr
    detector = DriftDetector(names, learning_rows=2000, **settings).learn(rows)
    assert detector.save() == out.read_bytes()
    assert DriftDetector.load(out).save() == detector.save()
    # The control: another setting, other bytes.
    other = DriftDetector(names, learning_rows=1999, **settings).learn(rows)
    assert other.save() != out.read_bytes()


def test_alarms_are_those_of_replay(log, tool) -> None:
    names, rows, path = log
    ran = tool("replay", str(path), "--learn", "2000", "--json")
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    told = {}
    for event in events:
        if event["event"] == "alarm":
            told[event["row"]] = (
                event["since_row"],
                event["channel"],
                event["change"],
                event["leg"],
            )
    said = DriftDetector(names, learning_rows=2000).predict(rows)
    own = {it.row: (it.since, it.channel, it.change, it.leg) for it in said.alarms}
    assert own == told
    assert ran.returncode == int(said.is_drift)


def number(value: float | None) -> np.float32 | None:
    """A setting in the detector's precision."""
    return None if value is None else np.float32(value)


def test_tune_decides_as_the_command_does(log, tool, tmp_path) -> None:
    names, rows, path = log
    ran = tool("tune", str(path), "--json")
    assert ran.returncode == 0, ran.stderr
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    theirs = [event for event in events if event["event"] == "candidate"]
    tuned = tune(pd.DataFrame(rows, columns=names))
    assert len(tuned.candidates) == len(theirs)
    for own, other in zip(tuned.candidates, theirs, strict=True):
        assert own.settings["learning_rows"] == other["learning_rows"]
        for name in ["period", "mean_time_between_false_alarms"]:
            assert number(own.settings[name]) == number(other[name]), name
        for name in ["watched", "false_alarms", "within", "found", "tried"]:
            assert getattr(own, name) == other[name], name
        assert (own is tuned.best) == other["suggested"]
    trials = [event for event in events if event["event"] == "trial"]
    own_trials = [
        (it.channel, it.change, it.found, it.tried, it.median_delay) for it in tuned.best.changes
    ]
    fields = ["channel", "change", "found", "tried", "median_delay"]
    assert own_trials == [tuple(trial[field] for field in fields) for trial in trials]
    # The settings are a file that the command reads.
    tuned.save(tmp_path / "settings.toml")
    out = tmp_path / "tuned.bin"
    ran = tool("export", str(path), "--settings", str(tmp_path / "settings.toml"), "-o", str(out))
    assert ran.returncode == 0, ran.stderr
    assert tuned.detector().learn(rows).save() == out.read_bytes()


def test_tune_without_the_command() -> None:
    tuned = tune(cycle(8000))
    assert tuned.cycle == pytest.approx(2 * np.pi / 0.05, rel=tolerance.CYCLE)
    # With the cycle and without; the better one is suggested.
    assert [it.settings["period"] is None for it in tuned.candidates[:2]] == [True, False]
    assert tuned.settings == tuned.best.settings
    assert tuned.best.tried == sum(it.tried for it in tuned.best.changes) > 0
    # A step of a deviation is found; a tenth of the rows would not be enough to look for it.
    assert tuned.best.found > 0.9 * tuned.best.tried
    assert tune(cycle(8000), within=2).best.found < tuned.best.found
    assert tune(healthy(6000)).cycle is None
    given = tune(healthy(6000), learning_rows=1000, mean_time_between_false_alarms=500, period=50)
    assert given.settings["learning_rows"] == 1000
    assert given.settings["mean_time_between_false_alarms"] == 500.0
    assert given.settings["period"] == 50.0


def test_settings_that_the_command_lacks_are_not_written(tmp_path) -> None:
    with pytest.raises(ValueError, match="kernel"):
        tune(healthy(2000), kernel="matern32", sampling="auto").save(tmp_path / "settings.toml")
    assert not (tmp_path / "settings.toml").exists()


def run_example(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), *arguments]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)


def test_the_example_writes_a_reference(tmp_path) -> None:
    ran = run_example("--out", str(tmp_path), "--plot")
    assert "a cycle of 240" in ran.stdout
    assert "current, level, since row 8" in ran.stdout
    state = (tmp_path / "reference.bin").read_bytes()
    assert DriftDetector.load(state).stage == "monitoring"
    assert (tmp_path / "said.svg").stat().st_size > 1000


def test_the_example_has_the_bytes_of_export(tmp_path, tool) -> None:
    run_example("--out", str(tmp_path))
    same = tmp_path / "same.bin"
    settings = str(tmp_path / "settings.toml")
    ran = tool("export", str(tmp_path / "log.csv"), "--settings", settings, "-o", str(same))
    assert ran.returncode == 0, ran.stderr
    assert same.read_bytes() == (tmp_path / "reference.bin").read_bytes()
    ran = tool("inspect", str(tmp_path / "reference.bin"))
    assert ran.returncode == 0, ran.stderr


def test_the_example_reads_a_log_of_the_command(tmp_path, tool) -> None:
    log = tmp_path / "pump.csv"
    ran = tool("demo", "--csv", str(log), "--plot", str(tmp_path / "drift.svg"))
    assert log.exists(), ran.stderr
    told = run_example(str(log), "--healthy", "3400", "--out", str(tmp_path / "out")).stdout
    assert "vibration" in told
    assert (tmp_path / "out" / "reference.bin").exists()
