"""Two samples: how different they are, and whether by more than chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _native
from .samples import MOST, in_order, real, table, text, whole

_SEEDS = 2**64 - 1


@dataclass(frozen=True)
class TwoSampleResult:
    """The result of a two-sample test, with scipy's names."""

    #: MMD².
    statistic: float
    #: Probability of a statistic at least as large if both samples have the same distribution.
    pvalue: float
    #: The bandwidth of the kernel, in the units of the samples.
    bandwidth: float
    #: How the p-value was found.
    method: str
    #: Rows of a block, if blocks were shuffled.
    block: int | None = None

    @property
    def p_value(self) -> float:
        """The same as ``pvalue``."""
        return self.pvalue


def _both(X: object, Y: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    (x, names), (y, own) = table("X", X), table("Y", Y)
    return x, in_order("Y", y, own, names)


def _bandwidth(bandwidth: object) -> float | None:
    if isinstance(bandwidth, str):
        if bandwidth != "median":
            raise ValueError(f"bandwidth: {bandwidth!r} is no number, and not 'median'")
        return None
    return real("bandwidth", bandwidth)


def _frequencies(frequencies: object) -> int | None:
    return None if frequencies is None else whole("frequencies", frequencies, 1, MOST)


def mmd2(
    X: object,
    Y: object,
    *,
    kernel: str = "gaussian",
    bandwidth: float | str = "median",
    unbiased: bool = False,
    frequencies: int | None = None,
    sampling: str = "auto",
    seed: int = 1,
) -> float:
    """Return the squared maximum mean discrepancy of two samples.

    Over all pairs of rows in float64, O((m+n)²), or with ``frequencies`` as a device computes it:
    by that many random Fourier features in float32, O((m+n)·frequencies). The unbiased estimate is 0
    on average for equal distributions. The Gaussian kernel is exp(−‖x−y‖²/2σ²); ``bandwidth`` is σ,
    or "median": the median distance of at most 1000 rows.
    """
    x, y = _both(X, Y)
    value, _ = _native.mmd2(
        x,
        y,
        kernel=text("kernel", kernel),
        bandwidth=_bandwidth(bandwidth),
        unbiased=bool(unbiased),
        frequencies=_frequencies(frequencies),
        sampling=text("sampling", sampling),
        seed=whole("seed", seed, 0, _SEEDS),
    )
    return value


def two_sample_test(
    X: object,
    Y: object,
    *,
    method: str = "permutation",
    kernel: str = "gaussian",
    bandwidth: float | str = "median",
    unbiased: bool = False,
    frequencies: int | None = None,
    sampling: str = "auto",
    seed: int = 1,
    draws: int = 999,
) -> TwoSampleResult:
    """Test whether two samples have the same distribution.

    ``method`` says how MMD² is distributed if they have: "permutation" (exact at any size),
    "blocks", "bootstrap", "spectrum", "gamma", "pearson" or "pearson4" (for many rows). The first four
    use ``draws`` random draws. All but "blocks" assume independent rows: of a log with memory they find
    differences where there are none. "blocks" shuffles blocks of rows, as long as five autocorrelation
    times if that leaves twenty of them, as ``fastmmd test`` does; rows have to be in order of time.
    Over all pairs of rows it takes 8·(m+n)² bytes, and O((m+n)²) for each draw;
    with ``frequencies``, O((m+n)·frequencies). The rest as for ``mmd2``.
    """
    x, y = _both(X, Y)
    statistic, pvalue, sigma, block = _native.two_sample_test(
        x,
        y,
        method=text("method", method),
        kernel=text("kernel", kernel),
        bandwidth=_bandwidth(bandwidth),
        unbiased=bool(unbiased),
        frequencies=_frequencies(frequencies),
        sampling=text("sampling", sampling),
        seed=whole("seed", seed, 0, _SEEDS),
        draws=whole("draws", draws, 1, 10_000_000),
    )
    return TwoSampleResult(statistic, pvalue, sigma, method, block)
