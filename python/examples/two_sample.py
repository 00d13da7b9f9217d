"""Is a batch of data distributed as the training set? Beside the same question to scipy.

    python two_sample.py

Needs scipy. Ends with an error if the two disagree.
"""

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist

from fastmmd import two_sample_test

LEVEL, DRAWS = 0.01, 999

rng = np.random.default_rng(7)
training = rng.normal(size=(120, 3))
batches = {
    "as before": rng.normal(size=(60, 3)),
    "another level": rng.normal(loc=(0.0, 1.0, 0.0), size=(60, 3)),
    "another spread": rng.normal(size=(60, 3)) * 2.0,
    "coupled channels": rng.normal(size=(60, 1)) + 0.2 * rng.normal(size=(60, 3)),
}


def by_scipy(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """Return the p-value of MMD² by scipy's permutations, over a kernel matrix made once."""
    both = np.concatenate([x, y])
    kernel = np.exp(-(cdist(both, both) ** 2) / (2 * bandwidth**2))

    def mmd2(a: np.ndarray, b: np.ndarray) -> float:
        a, b = a.astype(int), b.astype(int)
        own = kernel[np.ix_(a, a)].mean() + kernel[np.ix_(b, b)].mean()
        return float(own - 2 * kernel[np.ix_(a, b)].mean())

    rows = np.arange(len(both))
    found = stats.permutation_test(
        (rows[: len(x)], rows[len(x) :]),
        mmd2,
        n_resamples=DRAWS,
        alternative="greater",
        rng=np.random.default_rng(5),
    )
    return float(found.pvalue)


for name, batch in batches.items():
    own = two_sample_test(training, batch, draws=DRAWS)
    other = by_scipy(training, batch, own.bandwidth)
    verdict = "differs" if own.pvalue < LEVEL else "no difference found"
    print(f"{name:17} MMD² {own.statistic:.4f}  p {own.pvalue:.3f}  scipy {other:.3f}  {verdict}")
    if (own.pvalue < LEVEL) != (other < LEVEL):
        raise SystemExit(f"{name}: scipy disagrees")
