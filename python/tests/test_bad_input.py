"""What is refused: with the name of the parameter, and nothing changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import LEARNED, healthy

from fastmmd import DriftDetector, mmd2, tune, two_sample_test

SETTINGS = [
    ({"channels": 0}, ValueError, "channels"),
    ({"channels": 1.5}, TypeError, "channels"),
    ({"channels": "abc"}, TypeError, "channels"),
    ({"channels": ["a", "a"]}, ValueError, "channels"),
    ({"channels": ["a", 1]}, TypeError, "channels"),
    ({"channels": []}, ValueError, "channels"),
    ({"mean_time_between_false_alarms": 99}, ValueError, "mean_time_between_false_alarms"),
    ({"mean_time_between_false_alarms": float("nan")}, ValueError, "mean_time_between"),
    ({"mean_time_between_false_alarms": "1e4"}, TypeError, "mean_time_between"),
    ({"learning_rows": 255}, ValueError, "learning_rows"),
    ({"learning_rows": 2**40}, ValueError, "learning_rows"),
    ({"learning_rows": -1}, ValueError, "learning_rows"),
    ({"learning_rows": 512.0}, TypeError, "learning_rows"),
    ({"learning_rows": True}, TypeError, "learning_rows"),
    ({"period": 3.9}, ValueError, "period"),
    ({"period": 200, "learning_rows": 799}, ValueError, "period.*4 cycles"),
    ({"period": float("inf")}, ValueError, "period"),
    ({"period": "1d"}, TypeError, "period"),
    ({"relearn_after": 0}, ValueError, "relearn_after"),
    ({"relearn_after": 0.5}, TypeError, "relearn_after"),
    ({"missing": "skip"}, ValueError, "missing"),
    ({"missing": None}, TypeError, "missing"),
    ({"kernel": "cosine"}, ValueError, 'kernel: "cosine" is none of "gaussian"'),
    ({"kernel": 3}, TypeError, "kernel"),
    ({"bandwidth": 0.0}, ValueError, "bandwidth"),
    ({"bandwidth": "median"}, TypeError, "bandwidth"),
    ({"sampling": "sobol"}, ValueError, "sampling"),
    ({"kernel": "laplacian", "sampling": "orthogonal"}, ValueError, "kernel, sampling"),
    ({"seed": -1}, ValueError, "seed"),
    ({"seed": 2**64}, ValueError, "seed"),
    ({"frequencies": 0}, ValueError, "frequencies"),
    ({"frequencies": 65_537}, ValueError, "frequencies"),
    ({"frequencies": 32.0}, TypeError, "frequencies"),
]


@pytest.mark.parametrize(("settings", "error", "match"), SETTINGS)
def test_bad_settings(settings, error, match) -> None:
    with pytest.raises(error, match=match):
        DriftDetector(**settings)


def test_good_settings_are_taken() -> None:
    # The control of the list above: one good value of each parameter.
    DriftDetector(
        channels=["a"],
        mean_time_between_false_alarms=100,
        learning_rows=800,
        period=200,
        relearn_after=1,
        missing="error",
        kernel="laplacian",
        bandwidth=0.5,
        sampling="independent",
        seed=2**64 - 1,
        frequencies=1,
    )


ROWS = [
    ([1.0, 2.0], ValueError, "2 readings for 3 channels"),
    ([1.0, 2.0, float("inf")], ValueError, 'channel "c"'),
    ([1.0, 1e300, 2.0], ValueError, 'channel "b"'),
    ([1.0, 1e30, 2.0], ValueError, 'channel "b".*beyond'),
    ("abc", TypeError, "x:"),
    (None, TypeError, "x:"),
    (["a", 1.0, 2.0], TypeError, "x:"),
    ({"a": 1.0, "d": 2.0}, ValueError, "no channel 'd'"),
    (1.0, ValueError, "1 readings for 3 channels"),
    (np.zeros((2, 3)), ValueError, "one dimension"),
    (object(), TypeError, "x:"),
    (["1.5", 1.0, 2.0], TypeError, "not str"),
    (pd.DataFrame([[1.0, 2.0, 3.0]]), TypeError, "not a DataFrame"),
    (pd.Series({"a": 1.0, "d": 2.0}), ValueError, "no channel 'd'"),
]


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize(("row", "error", "match"), ROWS)
def test_bad_rows_change_nothing(row, error, match, learned) -> None:
    detector = DriftDetector(["a", "b", "c"], learning_rows=LEARNED)
    if learned:
        detector.learn(healthy(LEARNED))
    before = detector.save()
    with pytest.raises(error, match=match):
        detector.update(row)
    assert detector.save() == before


TABLES = [
    (np.zeros((5, 2)), ValueError, "2 columns for 3 channels"),
    (np.zeros((5, 3, 1)), ValueError, "dimensions"),
    (np.zeros((5, 0)), ValueError, "no columns"),
    (5.0, ValueError, "dimensions"),
    ([["a", "b", "c"]], TypeError, "X:"),
    ([[1.0, 2.0, 3.0], [1.0]], TypeError, "X:"),
    ("file.csv", TypeError, "X:"),
    (np.zeros((5, 3), dtype=complex), TypeError, "complex"),
    (pd.DataFrame({"a": [1.0], "b": [1.0], "d": [1.0]}), ValueError, "columns a, b, d"),
    (pd.DataFrame({"a": ["x"], "b": [1.0], "c": [1.0]}), TypeError, "column 'a'"),
    (pd.DataFrame({"a": ["1"], "b": [1.0], "c": [1.0]}), TypeError, "column 'a'"),
    (
        pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]), "b": [1.0], "c": [1.0]}),
        TypeError,
        "column 'a'",
    ),
    (pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"]), ValueError, "names differ"),
]


@pytest.mark.parametrize("method", ["learn", "predict"])
@pytest.mark.parametrize(("table", "error", "match"), TABLES)
def test_bad_tables_change_nothing(table, error, match, method) -> None:
    detector = DriftDetector(["a", "b", "c"], learning_rows=LEARNED)
    detector.predict(healthy(100))
    before = detector.save()
    with pytest.raises(error, match=match):
        getattr(detector, method)(table)
    assert detector.save() == before


def test_a_bad_row_late_in_a_table_changes_nothing() -> None:
    rows = healthy(900)
    rows[800, 1] = np.inf
    for detector in [DriftDetector(["a", "b", "c"], learning_rows=LEARNED), DriftDetector()]:
        before = repr(detector)
        with pytest.raises(ValueError, match="X, row 800: channel"):
            detector.predict(rows)
        assert repr(detector) == before
    # The control: without it all rows are taken.
    rows[800, 1] = 0.0
    assert len(DriftDetector(3).predict(rows).verdict) == 900


def test_nan_is_refused_if_told_so() -> None:
    detector = DriftDetector(["a", "b", "c"], missing="error")
    before = detector.save()
    with pytest.raises(ValueError, match='channel "b".*missing="reading"'):
        detector.update([1.0, float("nan"), 2.0])
    assert detector.save() == before
    DriftDetector(3).update([1.0, float("nan"), 2.0])


def test_too_few_rows_to_learn_from() -> None:
    detector = DriftDetector()
    with pytest.raises(ValueError, match="learning_rows.*256"):
        detector.learn(healthy(255))
    assert detector.rows == 0
    assert detector.channels == []


def test_bad_records() -> None:
    state = DriftDetector(3, learning_rows=LEARNED).learn(healthy(LEARNED)).save()
    assert DriftDetector.load(state).rows == LEARNED
    altered = bytearray(state)
    altered[len(state) // 2] ^= 1
    for bad in [b"", b"nonsense", state[:-1], state + b"0", bytes(altered)]:
        with pytest.raises(ValueError, match="state:"):
            DriftDetector.load(bad)
    with pytest.raises(ValueError, match="channels: 2 names"):
        DriftDetector.load(state, channels=["a", "b"])
    with pytest.raises(TypeError, match="channels"):
        DriftDetector.load(state, channels=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="source"):
        DriftDetector.load(5)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        DriftDetector.load("no-such-file.bin")
    with pytest.raises(RuntimeError, match="save"):
        DriftDetector().save()


SAMPLES = [
    ({"X": np.zeros((0, 2))}, ValueError, "X:"),
    ({"X": [[1.0, np.nan]] * 3}, ValueError, "X: row 0, column 1"),
    ({"Y": np.zeros((5, 3))}, ValueError, "Y: 3 columns; X has 2"),
    ({"Y": [["a", "b"]]}, TypeError, "Y:"),
    ({"kernel": "linear"}, ValueError, "kernel"),
    ({"bandwidth": "silverman"}, ValueError, "bandwidth"),
    ({"bandwidth": -1.0}, ValueError, "bandwidth"),
    ({"bandwidth": None}, TypeError, "bandwidth"),
    ({"frequencies": 0}, ValueError, "frequencies"),
    ({"frequencies": 3, "sampling": "grid"}, ValueError, "sampling"),
    ({"seed": 1.0}, TypeError, "seed"),
    ({"X": np.ones((5, 2)), "Y": np.ones((5, 2))}, ValueError, "bandwidth.*equal"),
    ({"X": [[1.0, 2.0]], "unbiased": True}, ValueError, "X, Y.*few"),
]


@pytest.mark.parametrize("function", [mmd2, two_sample_test])
@pytest.mark.parametrize(("given", "error", "match"), SAMPLES)
def test_bad_samples(given, error, match, function) -> None:
    arguments = {"X": healthy(9, 2), "Y": healthy(9, 2, seed=2)}
    function(**arguments)
    with pytest.raises(error, match=match):
        function(**{**arguments, **given})


def test_bad_tests() -> None:
    x, y = healthy(9, 2), healthy(9, 2, seed=2)
    for given, error in [({"method": "t"}, ValueError), ({"draws": 0}, ValueError)]:
        with pytest.raises(error, match=next(iter(given))):
            two_sample_test(x, y, **given)  # type: ignore[arg-type]


def test_bad_logs() -> None:
    with pytest.raises(ValueError, match="X: too few rows to learn from: 400 healthy ones"):
        tune(healthy(400))
    rows = healthy(2000)
    rows[1500, 2] = np.inf
    with pytest.raises(ValueError, match='X, row 1500: channel "2"'):
        tune(rows)
    for given in [{"within": 0}, {"learning_rows": 10}, {"frequencies": 0}, {"period": 2.0}]:
        with pytest.raises(ValueError, match=next(iter(given))):
            tune(healthy(2000), **given)  # type: ignore[arg-type]


def test_pairs_that_do_not_fit_into_memory_are_refused() -> None:
    rows = np.zeros((10_001, 1))
    with pytest.raises(ValueError, match="frequencies"):
        two_sample_test(rows, rows, bandwidth=1.0)
