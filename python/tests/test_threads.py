"""The global lock is released in long calls, and threads may share a detector."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

import pytest
import tolerance
from conftest import LEARNED, healthy

from fastmmd import DriftDetector, mmd2, tune, two_sample_test


def moves_beside(call: Callable[[], object]) -> float:
    """Part of a call's time in which a Python thread beside it made progress.

    A thread notes the time again and again. If the call keeps the global lock, there is one gap as long
    as the call.
    """
    marks: list[float] = []
    stop = threading.Event()

    def beside() -> None:
        while not stop.is_set():
            marks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=beside)
    thread.start()
    while not marks:
        time.sleep(0.001)
    begin = time.perf_counter()
    call()
    end = time.perf_counter()
    stop.set()
    thread.join()
    within = [begin, *(mark for mark in marks if begin <= mark <= end), end]
    longest = max(b - a for a, b in itertools.pairwise(within))
    return 1.0 - longest / (end - begin)


LONG = {
    "predict": lambda: DriftDetector(3).predict(healthy(150_000)),
    "learn": lambda: DriftDetector(3).learn(healthy(150_000)),
    "mmd2": lambda: mmd2(healthy(4000), healthy(4000, seed=2)),
    "two_sample_test": lambda: two_sample_test(healthy(500), healthy(500, seed=2)),
    "tune": lambda: tune(healthy(6000)),
}


@pytest.mark.parametrize("name", LONG)
def test_other_threads_go_on(name: str) -> None:
    assert moves_beside(LONG[name]) > 1.0 - tolerance.STALLED


def test_the_control_keeps_the_lock() -> None:
    # One operation of the interpreter, which never gives the lock away.
    assert moves_beside(lambda: sum(range(20_000_000))) < 1.0 - tolerance.STALLED


def test_two_threads_use_one_detector() -> None:
    detector = DriftDetector(3, learning_rows=LEARNED)
    rows = healthy(20_000)

    def push() -> None:
        detector.predict(rows)

    threads = [threading.Thread(target=push) for _ in range(2)]
    for thread in threads:
        thread.start()
    # While they run, questions are answered.
    while any(thread.is_alive() for thread in threads):
        assert detector.rows in (0, 20_000, 40_000)
        assert detector.stage in ("learning", "monitoring", "drift")
    for thread in threads:
        thread.join()
    assert detector.rows == 40_000


def test_threads_with_detectors_of_their_own_say_the_same() -> None:
    rows = healthy(20_000)
    states: list[bytes] = []

    def run() -> None:
        detector = DriftDetector(3, learning_rows=LEARNED)
        detector.predict(rows)
        states.append(detector.save())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(states) == 4
    assert len(set(states)) == 1
