"""Every method of the detector."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import tolerance
from conftest import LEARNED, RARELY, healthy, shifted

from fastmmd import VERDICTS, Alarm, DriftDetector


def learned(**settings: object) -> DriftDetector:
    return DriftDetector(learning_rows=LEARNED, **settings).learn(healthy(LEARNED))


def test_a_shift_is_found_where_and_when_it_is() -> None:
    detector = DriftDetector(["flow", "heat", "noise"], RARELY, learning_rows=LEARNED)
    said = detector.predict(shifted(2000, at=1500))
    assert said.is_drift
    alarm = said.alarms[0]
    assert isinstance(alarm, Alarm)
    assert (alarm.channel, alarm.channel_name, alarm.change) == (1, "heat", "level")
    assert 1500 <= alarm.row < 1500 + tolerance.SOON
    assert abs(alarm.since - 1500) < tolerance.SOON
    assert alarm.severity == alarm.score / alarm.threshold >= 1.0
    assert detector.stage == detector.state == "drift"
    assert detector.open
    assert detector.open[0].channel == 1
    assert detector.alarm is not None
    assert detector.alarm.row == said.alarms[-1].row


def test_without_a_shift_nothing_is_found() -> None:
    # The control of the test above.
    detector = DriftDetector(3, RARELY, learning_rows=LEARNED)
    said = detector.predict(healthy(2000))
    assert not said.is_drift
    assert said.alarms == []
    assert detector.alarm is None
    assert detector.stage == "monitoring"
    assert detector.open == []


def test_update_says_the_same_as_predict() -> None:
    rows = shifted(1200, at=900)
    one, many = (DriftDetector(3, learning_rows=LEARNED) for _ in range(2))
    said = many.predict(rows)
    raised, ratios = [], []
    for row in rows:
        one.update(row)
        raised.append(one.drift_detected)
        ratios.append((one.statistic, one.threshold))
    assert raised == list(said.verdict == VERDICTS.index("alarm"))
    assert sum(raised) == len(said.alarms) > 0
    assert one.save() == many.save()
    late = np.array(ratios[LEARNED:], dtype=np.float32)
    np.testing.assert_array_equal(late[:, 0], said.statistic[LEARNED:])
    np.testing.assert_array_equal(late[:, 1], said.threshold[LEARNED:])
    # All but the last row of learning, after which statistics exist.
    assert ratios[: LEARNED - 1] == [(None, None)] * (LEARNED - 1)
    assert np.isnan(said.statistic[: LEARNED - 1]).all()


def test_rows_of_every_kind_are_the_same_row() -> None:
    names = ["a", "b"]
    kinds = [
        [1.5, 2.5],
        (1.5, 2.5),
        np.array([1.5, 2.5]),
        np.array([1.5, 2.5], dtype=np.float32),
        {"b": 2.5, "a": 1.5},
        pd.Series([1.5, 2.5]),
        # A row of a data frame whose columns stand in another order.
        pd.DataFrame({"b": [2.5], "a": [1.5]}).iloc[0],
    ]
    states = []
    for row in kinds:
        detector = DriftDetector(names, learning_rows=LEARNED)
        detector.update(row)
        assert detector.rows == 1
        states.append(detector.save())
    assert len(set(states)) == 1
    # The control: another row is another state.
    other = DriftDetector(names, learning_rows=LEARNED)
    other.update([2.5, 1.5])
    assert other.save() != states[0]


def test_numbers_are_rows_of_one_channel() -> None:
    states = set()
    for value in [3, 3.0, np.float64(3), np.int32(3), np.array(3.0), [3]]:
        detector = DriftDetector()
        detector.update(value)
        assert detector.channels == ["0"]
        states.add(detector.save())
    assert len(states) == 1


def test_what_is_masked_is_missing() -> None:
    rows = np.array([[1.0, -9999.0], [2.0, 3.0]])
    masked, plain = DriftDetector(["a", "b"]), DriftDetector(["a", "b"])
    masked.predict(np.ma.masked_less(rows, -9000.0))
    rows[0, 1] = np.nan
    plain.predict(rows)
    assert masked.save() == plain.save()
    by_row = DriftDetector(["a", "b"])
    for row in np.ma.masked_invalid(rows):
        by_row.update(row)
    assert by_row.save() == plain.save()


def test_a_feature_that_is_not_there_is_missing() -> None:
    one, other = DriftDetector(["a", "b"]), DriftDetector(["a", "b"])
    one.update({"a": 1.0})
    other.update([1.0, float("nan")])
    third = DriftDetector(["a", "b"])
    third.update({"a": 1.0, "b": None})
    assert one.save() == other.save() == third.save()


def test_channels_are_named_by_the_first_mapping_or_frame() -> None:
    detector = DriftDetector()
    assert detector.channels == []
    detector.update({"x": 1.0, "y": 2.0})
    assert detector.channels == ["x", "y"]
    frame = pd.DataFrame(healthy(600, 2), columns=["p", "q"])
    assert DriftDetector().learn(frame).channels == ["p", "q"]
    counted = DriftDetector(2, learning_rows=LEARNED)
    counted.predict(frame)
    assert counted.channels == ["p", "q"] == list(counted.quality.channels)
    with pytest.raises(ValueError, match='channel "q"'):
        counted.update({"p": 1.0, "q": np.inf})


def test_tables_of_every_kind_are_the_same_rows() -> None:
    rows = shifted(900, at=700).astype(np.float32)
    rows[100, 1] = np.nan
    names = ["a", "b", "c"]
    lists = [[None if np.isnan(x) else float(x) for x in row] for row in rows]
    tables = [
        rows,
        rows.astype(np.float64),
        np.asfortranarray(rows),
        lists,
        pd.DataFrame(rows, columns=names),
        pd.DataFrame(rows, columns=names)[["c", "a", "b"]],
        pd.DataFrame(lists, columns=names).convert_dtypes(),
        pl.DataFrame(lists, schema=names, orient="row"),
    ]
    states = []
    for table in tables:
        detector = DriftDetector(names, learning_rows=LEARNED)
        said = detector.predict(table)
        assert said.alarms[0].channel_name == "b"
        states.append(detector.save())
    assert len(set(states)) == 1


def test_a_series_is_a_channel() -> None:
    column = healthy(700, 1)[:, 0]
    by_series = DriftDetector(learning_rows=LEARNED).learn(pd.Series(column, name="flow"))
    by_array = DriftDetector(learning_rows=LEARNED).learn(column)
    by_polars = DriftDetector(learning_rows=LEARNED).learn(pl.Series("flow", column))
    assert by_series.channels == by_polars.channels == ["flow"]
    assert by_series.save() == by_array.save() == by_polars.save()


def test_integers_of_frames_with_gaps() -> None:
    column = [1, None, 3] * 200
    by_pandas = DriftDetector(learning_rows=LEARNED)
    by_pandas.predict(pd.DataFrame({"a": pd.array(column, dtype="Int64")}))
    by_polars = DriftDetector(learning_rows=LEARNED)
    by_polars.predict(pl.DataFrame({"a": column}))
    assert by_pandas.save() == by_polars.save()
    assert by_pandas.quality.channels["a"].missing == pytest.approx(1 / 3, abs=tolerance.PART)


def test_learn_takes_all_rows_unless_told_otherwise() -> None:
    detector = DriftDetector().learn(healthy(1000))
    assert detector.settings["learning_rows"] == 1000
    assert detector.settings["mean_time_between_false_alarms"] == 2500.0
    assert (detector.rows, detector.rows_to_learn, detector.stage) == (1000, 0, "monitoring")
    told = DriftDetector(learning_rows=LEARNED).learn(healthy(1000))
    assert (told.rows, told.settings["learning_rows"]) == (LEARNED, LEARNED)
    assert told.save() == DriftDetector(learning_rows=LEARNED).fit(healthy(LEARNED)).save()


def test_fit_forgets_what_was_learned() -> None:
    detector = DriftDetector().fit(healthy(1000))
    detector.predict(shifted(500, 0))
    assert detector.stage == "drift"
    again = detector.fit(healthy(800, seed=2))
    assert again is detector
    assert detector.save() == DriftDetector().fit(healthy(800, seed=2)).save()
    # Refused rows leave what was learned.
    state = detector.save()
    with pytest.raises(ValueError, match="X: 2 columns for 3 channels"):
        detector.fit(healthy(800, 2))
    with pytest.raises(ValueError, match="learning_rows"):
        detector.fit(healthy(10))
    assert detector.save() == state


def test_fit_needs_as_many_rows_as_were_asked_for() -> None:
    # Otherwise rows to predict would be learned from.
    detector = DriftDetector(learning_rows=4096)
    with pytest.raises(ValueError, match="1000 rows for learning_rows=4096"):
        detector.fit(healthy(1000))
    assert detector.rows == 0
    assert detector.fit(healthy(5000)).stage == "monitoring"
    assert detector.rows == 4096
    # The control: learn says that it goes on.
    assert DriftDetector(learning_rows=4096).learn(healthy(1000)).rows_to_learn == 3096


def test_predict_takes_one_row() -> None:
    row = shifted(LEARNED + 1, at=LEARNED)[-1]
    states = []
    kinds = [row, list(row), tuple(row), pd.Series(row), row.reshape(1, -1), pl.Series(row)]
    frame = pd.DataFrame([row], columns=["a", "b", "c"])
    for one in [*kinds, frame.iloc[0], frame]:
        detector = DriftDetector(["a", "b", "c"], learning_rows=LEARNED).fit(healthy(LEARNED))
        assert len(detector.predict(one).verdict) == 1
        states.append(detector.save())
    assert len(set(states)) == 1
    with pytest.raises(ValueError, match="X: 1 columns for 3 channels"):
        detector.predict([*row, 0.0])
    # The controls: a column, and rows of one channel.
    with pytest.raises(ValueError, match="X: 1 columns for 3 channels"):
        detector.predict(row.reshape(-1, 1))
    assert len(DriftDetector(1).predict(row).verdict) == 3


def test_learning_in_parts_is_the_same() -> None:
    rows = healthy(LEARNED)
    detector = DriftDetector(3, learning_rows=LEARNED)
    assert detector.rows_to_learn == LEARNED
    detector.learn(rows[:100])
    assert (detector.stage, detector.rows_to_learn) == ("learning", LEARNED - 100)
    detector.learn(rows[100:])
    assert detector.save() == learned().save()
    with pytest.raises(RuntimeError, match="relearn"):
        detector.learn(rows)


def test_relearn_and_dismiss() -> None:
    detector = learned()
    detector.predict(shifted(300, at=0))
    assert detector.stage == "drift"
    accepted = copy.copy(detector)
    accepted.dismiss()
    assert accepted.stage == "monitoring"
    assert accepted.open == []
    assert not accepted.predict(shifted(300, at=0, seed=2)).is_drift
    # The control: who does not dismiss stays in drift.
    assert detector.stage == "drift"
    detector.relearn()
    assert (detector.stage, detector.rows_to_learn) == ("learning", LEARNED)
    assert detector.rows == LEARNED + 300


def test_a_lasting_drift_is_learned_if_told_so() -> None:
    said = learned(relearn_after=200).predict(shifted(400, at=0))
    assert VERDICTS.index("learning") in said.verdict
    assert VERDICTS.index("learning") not in learned().predict(shifted(400, at=0)).verdict


def test_a_cycle_is_no_drift_if_its_period_is_known() -> None:
    def cycle(rows: int) -> np.ndarray:
        turns = np.arange(rows) / 100.0
        noise = np.random.default_rng(3).normal(size=rows)
        return 20.0 * np.sin(2 * np.pi * turns) + noise

    rows = cycle(6000)
    rows[5000:] += 6.0
    # Rarely, so that none of the promised false alarms comes first.
    known = DriftDetector(learning_rows=2000, period=100, mean_time_between_false_alarms=1e5).predict(
        rows
    )
    assert known.alarms
    assert 5000 <= known.alarms[0].row < 5000 + tolerance.SOON_IN_A_CYCLE
    assert DriftDetector(period=1000).settings["learning_rows"] == 8000


def test_skipped_rows_move_the_phase() -> None:
    detector = DriftDetector(1, learning_rows=2000, period=100)
    before = detector.save()
    detector.skip(7)
    assert detector.save() != before
    assert detector.rows == 0


def test_saved_bytes_go_on_as_if_nothing_had_been() -> None:
    for period in [None, 50.0]:
        rows = shifted(2500, at=2000)
        whole = DriftDetector(3, learning_rows=LEARNED, period=period)
        said = whole.predict(rows)
        assert said.alarms
        # In the middle of learning, after it, and while an alarm waits to be amended.
        for cut in [200, 1000, said.alarms[0].row + 5]:
            first = DriftDetector(3, learning_rows=LEARNED, period=period)
            first.predict(rows[:cut])
            for again in [
                DriftDetector.load(first.save()),
                pickle.loads(pickle.dumps(first)),
                copy.copy(first),
                copy.deepcopy(first),
            ]:
                rest = again.predict(rows[cut:])
                np.testing.assert_array_equal(rest.verdict, said.verdict[cut:])
                np.testing.assert_array_equal(rest.statistic, said.statistic[cut:])
                assert again.save() == whole.save()


def test_pickles_keep_everything() -> None:
    detector = DriftDetector(["a", "b", "c"], learning_rows=LEARNED)
    rows = shifted(1000, at=900)
    for row in rows:
        detector.update(row)
        if detector.drift_detected:
            break
    assert detector.drift_detected
    again = pickle.loads(pickle.dumps(detector))
    assert again.drift_detected
    assert again.alarm == detector.alarm
    assert again.channels == ["a", "b", "c"]
    assert again.settings == detector.settings
    # A copy is another detector.
    other = copy.deepcopy(detector)
    other.update(rows[0])
    assert other.rows == detector.rows + 1
    # One that has seen nothing yet.
    fresh = pickle.loads(pickle.dumps(DriftDetector(learning_rows=300)))
    assert fresh.settings["learning_rows"] == 300
    assert fresh.channels == []


def test_a_clone_has_seen_nothing() -> None:
    detector = learned(seed=5)
    clone = detector.clone()
    assert (clone.rows, clone.settings) == (0, detector.settings)
    assert clone.learn(healthy(LEARNED)).save() == detector.save()
    assert DriftDetector(seed=7).clone().settings["seed"] == 7


PARAMETERS: dict[str, object] = {
    "channels": ["a", "b", "c"],
    "mean_time_between_false_alarms": 5000,
    "learning_rows": 1024,
    "period": 24.5,
    "relearn_after": 900,
    "missing": "error",
    "kernel": "laplacian",
    "bandwidth": 2,
    "sampling": "independent",
    "seed": 7,
    "frequencies": 16,
}


def test_parameters_are_kept_as_they_were_given() -> None:
    # What scikit-learn's clone asks: the signature's names, and the very objects.
    names = list(inspect.signature(DriftDetector).parameters)
    assert names == list(PARAMETERS) == list(DriftDetector().get_params())
    detector = DriftDetector(**PARAMETERS)
    for name, value in detector.get_params(deep=False).items():
        assert value is PARAMETERS[name], name
    assert pickle.loads(pickle.dumps(detector)).get_params() == PARAMETERS
    loaded = DriftDetector.load(detector.save(), channels=["a", "b", "c"])
    assert DriftDetector(**loaded.get_params()).settings == detector.settings
    assert DriftDetector.load(learned().save()).get_params()["channels"] == 3


def test_parameters_can_be_set() -> None:
    detector = learned()
    assert detector.set_params() is detector
    assert detector.rows == LEARNED
    assert detector.set_params(seed=9, channels=2) is detector
    assert (detector.rows, detector.settings["seed"]) == (0, 9)
    assert detector.get_params()["learning_rows"] == LEARNED
    assert detector.fit(healthy(LEARNED, 2)).channels == ["0", "1"]
    state = detector.save()
    with pytest.raises(ValueError, match="no parameter 'sede'; there are channels, "):
        detector.set_params(sede=9)
    with pytest.raises(ValueError, match="kernel"):
        detector.set_params(kernel="gauss")
    assert detector.save() == state


def test_scikit_learn_clones_it() -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    detector = DriftDetector(**{**PARAMETERS, "missing": "reading"}).fit(healthy(1024))
    clone = base.clone(detector)
    assert clone.rows == 0
    assert clone.get_params() == detector.get_params()
    assert clone.fit(healthy(1024)).save() == detector.save()


def test_files_are_loaded_with_names(tmp_path) -> None:
    detector = learned()
    state = detector.save(tmp_path / "reference.bin")
    for source in [tmp_path / "reference.bin", str(tmp_path / "reference.bin"), bytearray(state)]:
        again = DriftDetector.load(source, channels=["a", "b", "c"])
        assert again.channels == ["a", "b", "c"]
        assert again.save() == state
    assert DriftDetector.load(state).channels == ["0", "1", "2"]
    assert DriftDetector.load(state).settings == detector.settings


def test_quality_tells_what_learning_was_good_for() -> None:
    rows = healthy(LEARNED)
    rows[:, 2] = 7.0
    rows[::4, 1] = np.nan
    quality = DriftDetector(["a", "b", "still"], learning_rows=LEARNED).learn(rows).quality
    assert list(quality.channels) == ["a", "b", "still"]
    assert quality.channels["a"].deviation == pytest.approx(1.0, abs=tolerance.DEVIATION)
    assert quality.channels["b"].missing == pytest.approx(0.25, abs=tolerance.PART)
    assert (quality.channels["still"].deviation, quality.channels["still"].level) == (0.0, 7.0)
    assert 0 < quality.supported_mean_time <= LEARNED * LEARNED / 400
    assert quality.warnings == []
    assert "promised" in learned(mean_time_between_false_alarms=1e9).quality.warnings[0]


def test_the_promise_follows_from_the_learning_rows() -> None:
    for rows, promise in [(256, 250.0), (768, 1400.0), (4096, 10_000.0)]:
        detector = DriftDetector(learning_rows=rows)
        assert detector.settings["mean_time_between_false_alarms"] == promise
    assert DriftDetector(3, 500.0).settings["mean_time_between_false_alarms"] == 500.0


def test_seed_frequencies_and_kernel_matter() -> None:
    plain = learned().save()
    assert learned(seed=2).save() != plain
    assert len(learned(frequencies=64).save()) > len(plain)
    assert learned(bandwidth=2.0).save() != plain
    assert learned(kernel="matern52", sampling="auto").save() != plain
    assert learned().save() == plain


def test_a_prediction_reads_as_of_alibi_detect() -> None:
    detector = learned()
    said = detector.predict(shifted(300, at=100))
    assert said["data"]["is_drift"] == 1
    assert said["data"]["time"] == LEARNED + 300
    assert said["data"]["ert"] == detector.settings["mean_time_between_false_alarms"]
    assert len(said["data"]["test_stat"]) == 300
    assert said["data"]["alarms"][0]["channel"] == 1
    assert said["meta"]["online"]
    assert set(said) == {"data", "meta"}
    assert len(said) == 2
    with pytest.raises(KeyError):
        said["other"]


def test_legs_and_nearest() -> None:
    detector = learned()
    legs = detector.legs
    assert {"level", "jump", "spread", "values", "innovations"} <= {leg.leg for leg in legs}
    assert detector.nearest == max(legs, key=lambda leg: leg.ratio)
    assert (detector.statistic, detector.threshold) == (
        detector.nearest.statistic,
        detector.nearest.threshold,
    )
    assert DriftDetector(3).legs == []
    assert DriftDetector().nearest is None


def test_repr_says_where_it_stands() -> None:
    assert "monitoring, 512 rows" in repr(learned())
    assert "not known yet" in repr(DriftDetector())
