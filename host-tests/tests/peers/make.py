"""Makes peers.json: the oracle's statistics, computed by other packages.

    pip install -r host-tests/tests/peers/requirements.txt
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
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve, minimize
from scipy.special import digamma, polygamma
from scipy.stats import betaprime, gamma, pearson3, pearsonr, ttest_ind
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC

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
    return {
        "landmarks": map.component_indices_.tolist(),
        "mmd2": difference @ difference,
        "features": map.transform(q),
    }


def spectrum():
    """Eigenvalues of the centred kernel matrix over the number of samples, by LAPACK."""
    centring = np.eye(m + n) - 1 / (m + n)
    return np.sort(scipy.linalg.eigvalsh(centring @ gram @ centring / (m + n)))[::-1]


def u_variance():
    """Four times the variance, with n - 1, of the rows' means of h over pairs of samples."""
    x, y = p[:n], q
    h = sum(sign * rbf_kernel(a, b, gamma=GAMMA) for sign, a, b in [(1, x, x), (-1, x, y), (-1, y, x), (1, y, y)])
    np.fill_diagonal(h, 0)
    return 4 * (h.sum(axis=1) / (n - 1)).var(ddof=1)


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


def on_simplex(quadratic, linear):
    """The minimum of b'Qb/2 - l'b over the simplex by scipy's general solver."""
    size = len(linear)
    solved = minimize(
        lambda b: b @ quadratic @ b / 2 - linear @ b,
        np.full(size, 1 / size),
        jac=lambda b: quadratic @ b - linear,
        bounds=[(0, None)] * size,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones(size)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 10_000},
    )
    return solved.x


def mean_matching(ridge):
    """Weights of p that match the mean of q."""
    quadratic = rbf_kernel(p, gamma=GAMMA) + ridge * np.eye(m)
    linear = rbf_kernel(p, q, gamma=GAMMA).mean(axis=1)
    return {"ridge": ridge, "weights": on_simplex(quadratic, linear)}


def mixture(sample, centres, deviation):
    """Q and l of the program of a normal mixture: expectations of the kernel in closed form."""
    def between(x, y, variance):
        width = SIGMA**2 + variance
        return SIGMA / width**0.5 * np.exp(-((x - y) ** 2) / (2 * width))
    quadratic = between(centres[:, None], centres[None, :], 2 * deviation**2)
    return quadratic, between(sample, centres[None, :], deviation**2).mean(axis=0)


def mixture_shares(ridge):
    """The shares of normal candidates that match the sample's embedding, and how far they stay off."""
    sample, centres, deviation = pool[:, :1], np.array([-3.0, -1.5, 0.0, 1.5, 3.0]), 0.6
    quadratic, linear = mixture(sample, centres, deviation)
    shares = on_simplex(quadratic + ridge * np.eye(5), linear)
    squared = rbf_kernel(sample, gamma=GAMMA).mean() - 2 * linear @ shares + shares @ quadratic @ shares
    return {
        "centres": centres,
        "deviation": deviation,
        "ridge": ridge,
        "shares": shares,
        "distance": squared**0.5,
    }


def type_iv(mean, variance, skewness, excess, levels):
    """Quantiles of Pearson's type IV by scipy's quadrature of its density."""
    squared = skewness**2
    r = 6 * (excess + 2 - squared) / (2 * excess - 3 * squared)
    root = 16 * (r - 1) - squared * (r - 2) ** 2
    lean = -r * (r - 2) * skewness / root**0.5
    scale = (variance * root) ** 0.5 / 4
    shift = mean - (r - 2) * skewness * variance**0.5 / 4
    density = lambda x: (1 + ((x - shift) / scale) ** 2) ** (-(1 + r / 2)) * np.exp(
        -lean * np.arctan((x - shift) / scale) + lean * np.arctan(-lean / r)
    )
    whole = sum(quad(density, *ends, epsabs=0, limit=500)[0] for ends in [(-np.inf, mean), (mean, np.inf)])
    tail = lambda x: quad(density, x, np.inf, epsabs=0, limit=500)[0] / whole
    deviation = variance**0.5
    return [brentq(lambda x: tail(x) - p, mean - 5 * deviation, mean + 20 * deviation, xtol=1e-14) for p in levels]


def four_moments():
    """Pearson's curve by four moments: type VI by scipy's beta prime, type IV by quadrature."""
    levels = [0.2, 0.05, 0.01]
    skewness, excess = 1.0, 1.8
    moments = lambda v: betaprime.stats(np.exp(v[0]), np.exp(v[1]), moments="sk")
    solved = fsolve(lambda v: np.array(moments(v)) - [skewness, excess], np.log([20.0, 30.0]), xtol=1e-13)
    a, b = np.exp(solved)
    centre, spread = betaprime.stats(a, b, moments="mv")
    scale = (4.0 / spread) ** 0.5
    return {
        "levels": levels,
        "mean": 0.5,
        "variance": 4.0,
        "six": {
            "skewness": skewness,
            "excess": excess,
            "quantiles": betaprime.isf(levels, a, b, loc=0.5 - scale * centre, scale=scale),
        },
        "four": {
            "skewness": 0.7,
            "excess": 1.9,
            "quantiles": type_iv(0.5, 4.0, 0.7, 1.9, levels),
        },
    }


def machines():
    """libsvm with a kernel, and liblinear with the hinge loss and a bias as one more feature."""
    labels = np.array([1] * m + [-1] * n)
    kernel = SVC(C=2.0, kernel="precomputed", tol=1e-12).fit(gram, labels)
    linear = LinearSVC(C=0.5, loss="hinge", tol=1e-12, max_iter=10_000_000, random_state=1)
    linear.fit(pool, labels)
    return {
        "kernel": {"cost": 2.0, "decisions": kernel.decision_function(gram)},
        "linear": {"cost": 0.5, "weights": linear.coef_[0], "bias": linear.intercept_[0]},
    }


def channel_scores():
    """Welch's t by scipy, and the moderated t with its prior by scipy's polygamma functions."""
    channels = np.hstack([pool, pool**2, np.tanh(pool)])
    positive = np.arange(m + n) < m
    a, b = channels[positive], channels[~positive]
    sizes = (a.var(axis=0, ddof=1) / m + b.var(axis=0, ddof=1) / n) ** 0.5
    logs = np.log(sizes**2)
    count = m + n
    excess = logs.var() - polygamma(1, count / 2)
    half = brentq(lambda x: polygamma(1, np.exp(x)) - excess, -20, 20, xtol=1e-14)
    prior = 2 * np.exp(half)
    variance = np.exp(logs.mean() - digamma(count / 2) + digamma(prior / 2) - np.log(prior / count))
    shrunk = ((count * sizes**2 + prior * variance) / (count + prior)) ** 0.5
    difference = a.mean(axis=0) - b.mean(axis=0)
    return {
        "channels": channels,
        "t": ttest_ind(a, b, equal_var=False).statistic,
        "noise": difference / (a.std(axis=0, ddof=1) + b.std(axis=0, ddof=1)),
        "prior": [prior, variance],
        "moderated": difference / shrunk,
    }


def entropy_mixture():
    """The most even mixture within a radius of the sample's embedding, by scipy's general solver."""
    sample = pool[:, :1]
    centres, deviation, radius = np.array([-3.0, -1.5, 0.0, 1.5, 3.0]), 0.6, 0.12
    quadratic, linear = mixture(sample, centres, deviation)
    norm = rbf_kernel(sample, gamma=GAMMA).mean()
    solved = minimize(
        lambda b: (b * np.log(b)).sum(),
        np.full(5, 0.2),
        jac=lambda b: np.log(b) + 1,
        bounds=[(1e-12, 1)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda b: b.sum() - 1},
            {
                "type": "ineq",
                "fun": lambda b: radius**2 - (norm - 2 * linear @ b + b @ quadratic @ b),
                "jac": lambda b: 2 * linear - 2 * quadratic @ b,
            },
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 10_000},
    )
    return {"centres": centres, "deviation": deviation, "radius": radius, "shares": solved.x}


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
    "spectrum": spectrum(),
    "u_variance": u_variance(),
    "thresholds": thresholds(),
    "mean_matching": mean_matching(0.01),
    "mixture_shares": mixture_shares(0.01),
    "four_moments": four_moments(),
    "machines": machines(),
    "channel_scores": channel_scores(),
    "entropy_mixture": entropy_mixture(),
    "pearsonr": [pearsonr(pool[:, c], (pool**2).sum(axis=1)).statistic for c in range(2)],
}
text = json.dumps(values, indent=1, default=lambda array: np.asarray(array).tolist())
# A row of numbers on one line.
rows = re.compile(r"\[\s+([-0-9.e,\s]+?)\s+\]")
print(rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", text))
