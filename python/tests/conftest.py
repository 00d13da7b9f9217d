"""What the tests share: signals, and the programs that results are compared with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

#: A number of learning rows with which tests are quick.
LEARNED = 512
#: A time between false alarms so long that none comes in some thousand rows, even with few learning
#: rows.
RARELY = 1e8


def healthy(rows: int, channels: int = 3, seed: int = 1) -> np.ndarray:
    """Noise of different levels and spreads."""
    noise = np.random.default_rng(seed).normal(size=(rows, channels))
    return noise * (1.0 + np.arange(channels)) + 10.0 * np.arange(channels)


def shifted(rows: int, at: int, channel: int = 1, channels: int = 3, seed: int = 1) -> np.ndarray:
    """The same, with three deviations more on one channel from a row on."""
    table = healthy(rows, channels, seed)
    table[at:, channel] += 3.0 * (1.0 + channel)
    return table


def _program(variable: str) -> str:
    path = os.environ.get(variable)
    if path is None:
        pytest.skip(f"{variable} is not set: cargo xtask python builds the program and sets it")
    return path


@pytest.fixture(scope="session")
def parity() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The Rust program with the shape in the type."""
    program = _program("FASTMMD_PARITY")
    return lambda *a: subprocess.run([program, *a], capture_output=True, text=True, check=True)


@pytest.fixture(scope="session")
def tool() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command fastmmd."""
    program = _program("FASTMMD_TOOL")
    return lambda *a: subprocess.run([program, *a], capture_output=True, text=True, check=False)


def write_csv(path: Path, names: list[str], rows: np.ndarray) -> None:
    """Writes rows in float32 so that reading them gives the same bits."""
    with path.open("w") as file:
        file.write(",".join(names) + "\n")
        for row in rows.astype(np.float32):
            file.write(",".join("" if np.isnan(x) else str(x) for x in row) + "\n")
