"""Makes peers.json: the oracle's statistics, computed by other packages.

    pip install scikit-learn scipy hyppo
    python host-tests/tests/peers/make.py > host-tests/tests/peers/peers.json

`cargo test -p fastmmd-tests peers::` compares. Neither needs the other to run.
"""

import json
import re

import hyppo
import numpy as np
import scipy
import sklearn
from hyppo.independence import Hsic
from hyppo.ksample import MMD
from scipy.optimize import minimize
from scipy.stats import gamma, pearson3, pearsonr
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

SIGMA = 0.8
GAMMA = 1 / (2 * SIGMA**2)

random = np.random.default_rng(2022)
p = random.normal(0, 1, (12, 2)).round(6)
q = random.normal(0.3, 1.4, (9, 2)).round(6)
pool = np.vstack([p, q])
gram = rbf_kernel(pool, gamma=GAMMA)
m, n = len(p), len(q)


def kernels():
    matern = [Matern(length_scale=SIGMA, nu=nu) for nu in (1.5, 2.5)]
    return {
        "gaussian": rbf_kernel(p, q, gamma=GAMMA),
        "laplacian": laplacian_kernel(p, q, gamma=1 / SIGMA),
        "exponential": Matern(length_scale=SIGMA, nu=0.5)(p, q),
        "matern32": matern[0](p, q),
        "matern52": matern[1](p, q),
    }


def nystroem():
    """MMD² in the feature space of scikit-learn's own map, with its own landmarks."""
    map = Nystroem(kernel="rbf", gamma=GAMMA, n_components=4, random_state=1).fit(pool)
    difference = map.transform(p).mean(axis=0) - map.transform(q).mean(axis=0)
    return {"landmarks": map.component_indices_.tolist(), "mmd2": difference @ difference}


def thresholds():
    """Pearson type III and Gamma from moments over pairs and triples of different samples."""
    size = m + n
    centring = np.eye(size) - 1 / size
    centred = centring @ gram @ centring
    trace = np.trace(centred) / (size - 1)
    apart = centred - np.diag(np.diag(centred))
    square = (apart**2).sum() / (size * (size - 1))
    cube = np.trace(apart @ apart @ apart) / (size * (size - 1) * (size - 2))
    spread = 1 / m + 1 / n
    mean, variance = spread * trace, 2 * spread**2 * square
    skewness = 8 * cube / (2 * square) ** 1.5
    levels = [0.2, 0.05, 0.01]
    return {
        "levels": levels,
        "pearson": pearson3.isf(levels, skewness, loc=mean, scale=variance**0.5),
        "gamma": gamma.isf(levels, mean**2 / variance, scale=variance / mean),
    }


def mean_matching(ridge):
    """The quadratic program by scipy's general solver."""
    quadratic = rbf_kernel(p, gamma=GAMMA) + ridge * np.eye(m)
    linear = rbf_kernel(p, q, gamma=GAMMA).mean(axis=1)
    solved = minimize(
        lambda b: b @ quadratic @ b / 2 - linear @ b,
        np.full(m, 1 / m),
        jac=lambda b: quadratic @ b - linear,
        bounds=[(0, None)] * m,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones(m)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 10_000},
    )
    return {"ridge": ridge, "weights": solved.x}


first, second = pool[:, :1], pool[:, 1:]
values = {
    "made_with": {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "hyppo": hyppo.__version__,
    },
    "sigma": SIGMA,
    "p": p,
    "q": q,
    "kernels": kernels(),
    # hyppo's HSIC is √(HSIC(x, y)/√(HSIC(x, x)·HSIC(y, y))), and its MMD is that between the pool
    # and the labels, times 2m²n²/(m + n)⁴.
    "hyppo_hsic": Hsic(compute_kernel="rbf", bias=True, gamma=GAMMA).statistic(first, second),
    "hyppo_mmd": MMD(compute_kernel="rbf", bias=True, gamma=GAMMA).statistic(p, q),
    "nystroem": nystroem(),
    "thresholds": thresholds(),
    "mean_matching": mean_matching(0.01),
    "pearsonr": [pearsonr(pool[:, c], (pool**2).sum(axis=1)).statistic for c in range(2)],
}
text = json.dumps(values, indent=1, default=lambda array: np.asarray(array).tolist())
# A row of numbers on one line.
rows = re.compile(r"\[\s+([-0-9.e,\s]+?)\s+\]")
print(rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", text))
