from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["VERDICTS", "Detector", "mmd2", "tune", "two_sample_test"]

VERDICTS: tuple[str, ...]

@final
class Detector:
    def __new__(
        cls,
        names: list[str],
        *,
        mean_time_between_false_alarms: float | None,
        learning_rows: int,
        period: float | None,
        relearn_after: int | None,
        missing: str,
        kernel: str,
        bandwidth: float,
        sampling: str,
        seed: int,
        frequencies: int,
    ) -> Detector: ...
    @staticmethod
    def version() -> str: ...
    @staticmethod
    def restored(state: bytes, names: list[str] | None, last: int | None) -> Detector: ...
    def push(self, row: list[float]) -> int: ...
    def push_rows(
        self, rows: NDArray[np.float32], watch: bool
    ) -> tuple[
        NDArray[np.uint8],
        NDArray[np.float32],
        NDArray[np.float32],
        list[tuple[dict[str, Any], bool]],
    ]: ...
    def skip(self, rows: int) -> None: ...
    def relearn(self) -> None: ...
    def dismiss(self) -> None: ...
    def save(self) -> bytes: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def last(self) -> int | None: ...
    @property
    def stage(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def rows_to_learn(self) -> int: ...
    @property
    def last_alarm(self) -> dict[str, Any] | None: ...
    @property
    def nearest(self) -> dict[str, Any] | None: ...
    @property
    def legs(self) -> list[dict[str, Any]]: ...
    @property
    def open(self) -> list[dict[str, Any]]: ...
    @property
    def quality(self) -> list[dict[str, Any]]: ...
    @property
    def mute(self) -> list[dict[str, Any]]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def supported_mean_time(self) -> float: ...
    @property
    def settings(self) -> dict[str, Any]: ...

def mmd2(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    kernel: str,
    bandwidth: float | None,
    unbiased: bool,
    frequencies: int | None,
    sampling: str,
    seed: int,
) -> tuple[float, float]: ...
def two_sample_test(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    method: str,
    kernel: str,
    bandwidth: float | None,
    unbiased: bool,
    frequencies: int | None,
    sampling: str,
    seed: int,
    draws: int,
) -> tuple[float, float, float, int | None]: ...
def tune(
    rows: NDArray[np.float32],
    names: list[str],
    *,
    mean_time_between_false_alarms: float | None,
    learning_rows: int | None,
    period: float | None,
    missing: str,
    kernel: str,
    bandwidth: float,
    sampling: str,
    seed: int,
    frequencies: int,
    within: int | None,
) -> dict[str, Any]: ...
