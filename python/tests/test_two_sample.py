"""MMD² against a sum over pairs, and the test against scipy's permutations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tolerance
from conftest import healthy
from scipy import stats
from scipy.spatial.distance import cdist

from fastmmd import mmd2, two_sample_test


def profile(kernel: str, x: np.ndarray, y: np.ndarray, sigma: float) -> np.ndarray:
    distance = cdist(x, y) / sigma
    if kernel == "gaussian":
        return np.exp(-(distance**2) / 2)
    if kernel == "laplacian":
        return np.exp(-cdist(x, y, "cityblock") / sigma)
    if kernel == "exponential":
        return np.exp(-distance)
    root = np.sqrt(3.0 if kernel == "matern32" else 5.0) * distance
    return (1 + root + (0 if kernel == "matern32" else root**2 / 3)) * np.exp(-root)


def over_pairs(kernel: str, x: np.ndarray, y: np.ndarray, sigma: float, unbiased: bool) -> float:
    xx, yy = profile(kernel, x, x, sigma), profile(kernel, y, y, sigma)
    between = profile(kernel, x, y, sigma).mean()
    if not unbiased:
        return float(xx.mean() + yy.mean() - 2 * between)
    m, n = len(x), len(y)
    within = (xx.sum() - np.trace(xx)) / (m * (m - 1)) + (yy.sum() - np.trace(yy)) / (n * (n - 1))
    return float(within - 2 * between)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "exponential", "matern32", "matern52"])
@pytest.mark.parametrize("unbiased", [False, True])
def test_mmd2_is_the_sum_over_pairs(kernel: str, unbiased: bool) -> None:
    x, y = healthy(60, 2), healthy(45, 2, seed=2) + 0.5
    # 0.75 is a number of float32.
    for sigma in [0.75, 3.0]:
        found = mmd2(x, y, kernel=kernel, bandwidth=sigma, unbiased=unbiased)
        assert found == pytest.approx(over_pairs(kernel, x, y, sigma, unbiased), abs=tolerance.PAIRS)
        # The control: another bandwidth, or the other estimate, is another number.
        assert abs(found - over_pairs(kernel, x, y, 1.5, unbiased)) > tolerance.CONTROL
        assert abs(found - over_pairs(kernel, x, y, sigma, not unbiased)) > tolerance.CONTROL


def test_the_median_is_that_of_the_distances() -> None:
    x, y = healthy(60, 2), healthy(45, 2, seed=2)
    both = np.concatenate([x, y])
    distances = np.sort(cdist(both, both)[np.tril_indices(105, -1)])
    sigma = distances[len(distances) // 2]
    assert two_sample_test(x, y).bandwidth == pytest.approx(sigma, rel=tolerance.SINGLE)
    assert mmd2(x, y) == pytest.approx(
        over_pairs("gaussian", x, y, sigma, False), rel=tolerance.OF_SINGLE
    )


def test_frequencies_come_nearer_the_more_there_are() -> None:
    x, y = healthy(200, 2), healthy(200, 2, seed=2) + 1.0
    exact = mmd2(x, y, bandwidth=2.0)

    def error(count: int) -> float:
        found = [mmd2(x, y, bandwidth=2.0, frequencies=count, seed=seed) for seed in range(20)]
        return float(np.sqrt(np.mean((np.array(found) - exact) ** 2)))

    assert error(1024) < error(16) / tolerance.FEWER_ERRORS
    assert error(1024) < tolerance.MANY_FREQUENCIES * exact


def test_samples_of_frames_are_matched_by_name() -> None:
    x, y = healthy(50, 2), healthy(50, 2, seed=2)
    a, b = pd.DataFrame(x, columns=["p", "q"]), pd.DataFrame(y, columns=["p", "q"])
    assert mmd2(a, b[["q", "p"]]) == mmd2(x, y)
    with pytest.raises(ValueError, match="Y: columns"):
        mmd2(a, b.rename(columns={"p": "r"}))


METHODS = ["permutation", "blocks", "bootstrap", "spectrum", "gamma", "pearson", "pearson4"]


@pytest.mark.parametrize("frequencies", [None, 256])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_tells_a_shift_from_none(method: str, frequencies: int | None) -> None:
    x = healthy(80, 2)
    same = two_sample_test(x, healthy(80, 2, seed=2), method=method, frequencies=frequencies)
    shifted = healthy(80, 2, seed=2) + 1.0
    other = two_sample_test(x, shifted, method=method, frequencies=frequencies)
    assert same.pvalue > 0.05 > 0.005 > other.pvalue == other.p_value
    assert same.method == method
    assert other.statistic > same.statistic


def test_the_level_is_kept() -> None:
    # A permutation test rejects at most as often as its level says; seeded.
    rejected = 0
    for seed in range(200):
        x, y = healthy(20, 1, seed=2 * seed), healthy(15, 1, seed=2 * seed + 1)
        rejected += two_sample_test(x, y, seed=seed, draws=199).pvalue <= 0.1
    least, most = tolerance.REJECTED
    assert least <= rejected <= most


def wandering(rows: int, seed: int) -> np.ndarray:
    """Rows that are alike from one to the next: about six of them are worth one."""
    noise = np.random.default_rng(seed).normal(size=rows + 200)
    for row in range(1, len(noise)):
        noise[row] += 0.7 * noise[row - 1]
    return noise[200:]


def test_blocks_keep_the_level_where_rows_have_memory() -> None:
    rejected = {"permutation": 0, "blocks": 0}
    for seed in range(100):
        x, y = wandering(2000, 2 * seed), wandering(2000, 2 * seed + 1)
        for method in rejected:
            found = two_sample_test(x, y, method=method, frequencies=32, seed=seed, draws=99)
            rejected[method] += found.pvalue <= 0.1
    assert rejected["blocks"] <= tolerance.REJECTED_BLOCKS
    # The control: shuffled rows see a difference that is none.
    assert rejected["permutation"] >= tolerance.REJECTED_ROWS


def test_blocks_hold_whole_rows() -> None:
    x, y = wandering(700, 1)[:, None], wandering(650, 2)[:, None] + 3.0
    found = two_sample_test(x, y, method="blocks", draws=99)
    assert found.block is not None and found.block > 1
    p, q = (rows[: len(rows) // found.block * found.block] for rows in (x, y))
    wanted = over_pairs("gaussian", p, q, found.bandwidth, False)
    assert found.statistic == pytest.approx(wanted, abs=tolerance.PAIRS)
    assert len(p) < len(x) and abs(wanted - mmd2(x, y)) > tolerance.PAIRS
    assert two_sample_test(x, y).block is None


def scipy_test(x: np.ndarray, y: np.ndarray, sigma: float) -> tuple[float, float]:
    """The same test by scipy: rows are shuffled by their numbers."""
    both = np.concatenate([x, y])

    def statistic(a: np.ndarray, b: np.ndarray) -> float:
        p, q = both[a.astype(int)], both[b.astype(int)]
        return over_pairs("gaussian", p, q, sigma, False)

    numbers = np.arange(len(both), dtype=float)
    found = stats.permutation_test(
        (numbers[: len(x)], numbers[len(x) :]),
        statistic,
        n_resamples=999,
        alternative="greater",
        rng=np.random.default_rng(5),
    )
    return float(found.statistic), float(found.pvalue)


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.6, 3.0])
def test_p_values_are_those_of_scipy(shift: float) -> None:
    x, y = healthy(30, 2), healthy(25, 2, seed=2) + shift
    own = two_sample_test(x, y, draws=999)
    statistic, pvalue = scipy_test(x, y, own.bandwidth)
    assert own.statistic == pytest.approx(statistic, abs=tolerance.PAIRS)
    spread = tolerance.P_VALUE_DEVIATIONS * np.sqrt(2 * pvalue * (1 - pvalue) / 999) + 0.001
    assert abs(own.pvalue - pvalue) <= spread


def test_the_example_agrees_with_scipy() -> None:
    example = Path(__file__).parent.parent / "examples" / "two_sample.py"
    printed = subprocess.run(
        [sys.executable, str(example)], check=True, capture_output=True, text=True
    ).stdout
    verdicts = [line.rsplit("  ", 1)[1] for line in printed.splitlines()]
    assert verdicts == ["no difference found"] + 3 * ["differs"]


def test_a_script_in_the_style_of_scikit_learn() -> None:
    """Is the batch of today distributed as the training set?"""
    training = healthy(300, 3)
    batches = {"monday": healthy(60, 3, seed=3), "tuesday": healthy(60, 3, seed=4) * 1.5}
    verdicts = {day: two_sample_test(training, batch).pvalue < 0.01 for day, batch in batches.items()}
    assert verdicts == {"monday": False, "tuesday": True}
