"""The laws that doc/formulas.md promises, written down once more and apart from src/, and exact tests against them.

Sections in brackets are those of doc/formulas.md.
"""
import bisect
import math
from fractions import Fraction

# ---- scales ----------------------------------------------------------------------------------------------------------


def laplace_scale(sensitivity, measures, epsilon):
    """[8.3] b = t/s in lattice units."""
    return Fraction(sensitivity * measures) / Fraction(epsilon)


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_tail_quantile(p):
    low, high = 0.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if normal_cdf(-middle) > p else (low, middle)
    return high


def balle_wang(epsilon, sigma):
    return normal_cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * normal_cdf(-0.5 / sigma - epsilon * sigma)


def analytic_sigma(epsilon, delta):
    """[8.4] of one coordinate of sensitivity 1."""
    low, high = math.log(1e-6), math.log(1e12)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if balle_wang(epsilon, math.exp(middle)) <= delta else (middle, high)
    return math.exp(high)


def epsilon_of_rho(rho, delta):
    """[5.3] tight; t = ln(order - 1)."""
    def value(t):
        order = math.exp(t)
        return (1 + order) * rho - math.log1p(1 / order) + (-math.log(delta) - math.log1p(order)) / order
    best = min((-8 + i / 16 for i in range(641)), key=value)
    low, high = best - 1 / 16, best + 1 / 16
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return max(0.0, value(low))


def rho_cap(epsilon, delta):
    low = (math.sqrt(-math.log(delta) + epsilon) - math.sqrt(-math.log(delta))) ** 2
    high = 2 * low
    while epsilon_of_rho(high, delta) <= epsilon:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
    return low


def gaussian_sigma(sensitivity, measures, coordinates, epsilon, delta):
    """[8.4] The least sigma in lattice units; what is drawn may be larger by some thousandths, never smaller."""
    if coordinates == 1:
        return sensitivity * analytic_sigma(epsilon, delta)
    return sensitivity * math.sqrt(measures / (2 * rho_cap(epsilon, delta)))


# ---- laws of integer noise -------------------------------------------------------------------------------------------


class Laplace:
    """[8.1] P(z) = (1-u)/(1+u) u^|z|, u = e^(-1/b)."""

    def __init__(self, b):
        self.b = float(b)
        self.u = math.exp(-1 / self.b)
        self.slack = 0.0

    def tail(self, z):
        """P(Z >= z) for an integer z."""
        return math.exp(-z / self.b) / (1 + self.u) if z > 0 else 1 - math.exp((z - 1) / self.b) / (1 + self.u)

    def cdf(self, z):
        return 1 - self.tail(math.floor(z) + 1)

    def equal(self):
        """P(Z = Z') of two independent draws: sum of the squares."""
        p0 = math.tanh(0.5 / self.b)
        return p0 * p0 * (1 + 2 * self.u ** 2 / -math.expm1(-2 / self.b))

    def spread(self):
        return math.sqrt(2) * self.b


class Gaussian:
    """[8.1] P(z) ~ e^(-z^2/(2 sigma^2)). slack: what its distribution function is not known to, since sigma may be larger
    by some thousandths (8.4)."""
    slack = 2e-3

    def __init__(self, sigma):
        self.sigma = float(sigma)
        self.tails = {}
        if self.sigma < 30:
            reach = range(math.ceil(20 * self.sigma), -math.ceil(20 * self.sigma) - 1, -1)
            weight = {z: math.exp(-0.5 * (z / self.sigma) ** 2) for z in reach}
            whole, above = math.fsum(weight.values()), 0.0
            for z in reach:
                above += weight[z]
                self.tails[z] = above / whole

    def tail(self, z):
        if self.tails:
            return self.tails.get(z, 0.0 if z > 0 else 1.0)
        return normal_cdf(-(z - 0.5) / self.sigma)

    def cdf(self, z):
        return 1 - self.tail(math.floor(z) + 1)

    def equal(self):
        return 1 / (2 * math.sqrt(math.pi) * self.sigma)

    def spread(self):
        return self.sigma


def discrete_delta(law, epsilon, sensitivity):
    """[8.4] The exact delta of one coordinate under discrete Gaussian noise."""
    middle = epsilon * law.sigma ** 2 / sensitivity
    near, far = (law.tail(math.floor(middle + side * sensitivity / 2) + 1) for side in (-1, 1))
    return near - math.exp(epsilon) * far


def threshold(law, delta):
    """[8.5] T = 1 + the smallest q >= 1 with P(Z >= q) <= delta."""
    if isinstance(law, Laplace):
        return 1 + max(1, math.ceil((-math.log(delta) - math.log1p(law.u)) * law.b - 1e-9))
    q = max(1, math.floor(law.sigma * normal_tail_quantile(delta)) - 2)
    while law.tail(q) > delta:
        q += 1
    return 1 + q


# ---- the selection [3.2, 3.4] ----------------------------------------------------------------------------------------


def svt_split(epsilon_svt):
    root = 4 ** (1 / 3)
    return epsilon_svt / (1 + root), epsilon_svt * root / (1 + root)


def svt_gap(n, matching, epsilon, tau_var):
    """-h/Delta of `count(*)` where `matching` of n records match, m = k1 = 1; Laplace."""
    width = 1 / (1 + 1 / math.sinh(epsilon))
    excess = (matching - matching * matching / n) * width ** 2 - n * tau_var
    assert width ** 2 / 4 > tau_var, "a candidate that passes on every table"
    return excess / max(tau_var, width ** 2 - tau_var)


def laplace_cdf(x, scale):
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def svt_law(gaps, epsilon_svt):
    """Probability of each candidate to be the one selected, and last of none: given r the comparisons are independent.
    Continuous noise: units are 2^-20 and smaller."""
    first, second = svt_split(epsilon_svt)
    b1, b2 = 1 / first, 2 / second
    total = [0.0] * (len(gaps) + 1)
    steps = 40000
    for i in range(steps):
        q = (i + 0.5) / steps  # r runs over its quantiles
        r = b1 * math.log(2 * q) if q < 0.5 else -b1 * math.log(2 * (1 - q))
        left = 1.0
        for j, gap in enumerate(gaps):
            accepted = 1 - laplace_cdf(r + gap, b2)  # -gap + v >= r
            total[j] += left * accepted
            left *= 1 - accepted
        total[-1] += left
    return [t / steps for t in total]


# ---- tests that hold for every sample size ---------------------------------------------------------------------------


def log_binomial(k, n, p):
    if p <= 0 or p >= 1:
        return 0.0 if k == (n if p >= 1 else 0) else -math.inf
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(p) + (n - k) * math.log1p(-p)


def binomial_p(k, n, p):
    """Two-sided: twice the smaller tail, at most 1. Exact."""
    if n == 0:
        return 1.0

    def tail(values):
        total = 0.0
        for i in values:
            term = math.exp(log_binomial(i, n, p))
            total += term
            if term < total * 1e-16:
                break
        return total
    below = tail(range(k, -1, -1)) if k <= n * p else 1.0
    above = tail(range(k, n + 1)) if k >= n * p else 1.0
    return min(1.0, 2 * min(below, above))


def kolmogorov_p(sample, law):
    """Dvoretzky, Kiefer, Wolfowitz and Massart: an upper bound of the p-value, for every law and n."""
    points = sorted(sample)
    n, distance = len(points), 0.0
    at = 0
    while at < n:
        end = bisect.bisect_right(points, points[at])
        distance = max(distance, abs(end / n - law.cdf(points[at])), abs(at / n - law.cdf(math.ceil(points[at]) - 1)))
        at = end
    return min(1.0, 2 * math.exp(-2 * n * max(0.0, distance - law.slack) ** 2))


def product_p(pairs):
    """Of a sum of products of independent variables of mean 0, within [-1, 1], variance at most 1/3 each: Bernstein."""
    n, total = len(pairs), abs(sum(a * b for a, b in pairs))
    return min(1.0, 2 * math.exp(-total ** 2 / 2 / (n / 9 + total / 3)))
