"""The accountant against references of 30 digits, against dp-accounting, and against known wrong answers.

    accounting_oracle.py SEED [--settings 500] [--driver build/bench/macro_accounting] [--peers 60] [--peers-only]

1. Random settings and corners. The reference is the inversion integral of the moment generating function (Spec §17.4) in ball arithmetic
   (Arb), on two contours with different abscissas and steps, which have to agree to 25 digits; settings for which that is too much work are
   counted. Every enclosure has to contain it: none may miss. Widths are reported.
   The second accountant is asked too, on 2^14 points; the two enclosures have to intersect.
2. One step in closed form with 60 digits, sampling rates up to 1 - 1e-12.
3. dp-accounting's privacy-loss distributions, pessimistic and optimistic: the enclosures have to intersect [optimistic, pessimistic];
   where they do not, the reference says who is wrong.
4. Answers that are known to be wrong must not be given.

The exit code is 1 if the program missed a reference, and if it gave a wrong answer of 4.
"""

import argparse
import logging
import math
import random
import subprocess
import sys
import time

import numpy as np
from mpmath import mp, mpf

import flint

BITS = 260
WORK = 400_000  # products of nodes that a reference may take


# ---- the program ----

class Driver:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(w if isinstance(w, str) else repr(w) for w in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0].startswith("error"):
            raise RuntimeError(f"{words}: {' '.join(answer)}")
        return float(answer[0]), float(answer[1]), answer[2], float(answer[3])


# ---- references ----

def log_ratio(q, m, z):
    a = m * z - m * m / 2
    return np.where(a > 30, np.log(q) + a + np.log1p((1 - q) / q * np.exp(-np.maximum(a, 30))),
                    np.log1p(q * np.expm1(np.minimum(a, 30))))


def losses(direction, q, m, z):
    """Loss and log density of P over the normal one, in doubles: to choose abscissas with."""
    if direction == "remove":
        r = log_ratio(q, m, z)
        return r, r
    if direction == "add":
        return -log_ratio(q, m, z), np.zeros_like(z)
    r = log_ratio(q, m, z)
    return r - log_ratio(q, m, -z), r


class Cumulant:
    """K(s) of one step in doubles."""

    def __init__(self, direction, q, m):
        self.direction, self.q, self.m = direction, q, m

    def at(self, s):
        m, up, down = self.m, max(s, 0.0), max(-s, 0.0)
        if self.direction == "remove":
            low, high = -12.0, 12.0 + m * (1 + s)
        elif self.direction == "add":
            low, high = -12.0 - m * up, 12.0 + m * down
        else:
            low, high = -12.0 - m * down, 12.0 + m * (1 + s + up)
        z = np.linspace(low, high, 4001)
        loss, density = losses(self.direction, self.q, m, z)
        exponent = density + s * loss - z * z / 2
        top = exponent.max()
        a = np.exp(exponent - top)
        total = a.sum()
        mean = (a * loss).sum() / total
        variance = (a * (loss - mean) ** 2).sum() / total
        return top + math.log(total * (z[1] - z[0]) / math.sqrt(2 * math.pi)), mean, variance


def saddle(cumulant, k, eps):
    low, high = math.log(1e-6), math.log(3e4 / cumulant.m)
    for _ in range(60):
        s = math.exp((low + high) / 2)
        slope = k * cumulant.at(s)[1] - eps - 1 / s - 1 / (1 + s)
        low, high = ((low + high) / 2, high) if slope < 0 else (low, (low + high) / 2)
    return math.exp((low + high) / 2)


def z_range(direction, m, s, digits_nats):
    reach = math.sqrt(2 * digits_nats)
    if direction == "remove":
        return -reach, reach + m * (1 + s)
    if direction == "add":
        return -reach - m * s, reach
    return -reach, reach + m * (1 + 2 * s)


def on_contour(direction, q, m, k, eps, s0, cumulant, stretch):
    """log delta as an Arb ball on one contour, or None where it is too much work. `stretch` makes every step smaller."""
    flint.ctx.prec = BITS + int(math.log2(k)) + 20
    value, _, variance = cumulant.at(s0)
    unit = 1 / math.sqrt(k * variance + 1 / s0 ** 2)
    digits = 75.0  # nats: 32 digits
    # Aliases: by Chernoff at abscissas to both sides.
    chernoff = lambda s: k * cumulant.at(s)[0] - s * eps + (s * math.log(s) if s > 0 else 0.0) - (1 + s) * math.log1p(s)
    estimate = k * value - s0 * eps - math.log(s0 * (1 + s0)) + math.log(unit)
    if not s0 + unit < 3e4 / m:
        return None
    above = min((digits + chernoff(s0 + d * unit) - estimate) / (d * unit) for d in (1, 2, 4, 8, 15, 30)
                if s0 + d * unit < 3e4 / m)
    below = min((digits + chernoff(s) - estimate) / (s0 - s) for s in [0.0] + [s0 - d * unit for d in (1, 2, 4, 8, 15, 30) if s0 - d * unit > 0])
    h = 2 * math.pi / max(above, below) / stretch
    reach = unit * math.sqrt(2 * digits)
    turns = 2 if direction == "replace" else 1
    power = 0.0 if direction == "remove" else s0
    for _ in range(40):
        spacing = max(2 * math.pi * c / (digits + math.log(k) + c * c / 2 + turns * m * c * reach - power * math.log(math.cos(m * c / 2)))
                      for c in (f * math.pi / m for f in (.05, .1, .2, .3, .4, .5, .6, .7, .8, .9))) / stretch
        low, high = z_range(direction, m, s0, digits)
        nodes = (high - low) / spacing
        if nodes * reach / h > WORK:
            return None
        # Does the transform decay enough by then?
        z = np.arange(low, high, spacing)
        loss, density = losses(direction, q, m, z)
        exponent = density + s0 * loss - z * z / 2
        a = np.exp(exponent - exponent.max())
        a /= a.sum()
        sizes = [abs((a * np.exp(1j * y * loss)).sum()) for y in np.linspace(reach, 1.3 * reach, 12)]
        if k * math.log(max(sizes) + 1e-300) < -digits:
            break
        reach *= 1.3
    else:
        return None
    arb, acb = flint.arb, flint.acb
    q_, m_, eps_, s_ = arb(q), arb(m), arb(eps), arb(s0)
    first, last = math.ceil(low / spacing), math.floor(high / spacing)
    spacing_ = arb(spacing)
    log_r = lambda z: ((1 - q_) + q_ * (m_ * z - m_ * m_ / 2).exp()).log()
    weights, loss_ = [], []
    for j in range(first, last + 1):
        z = spacing_ * j
        r = log_r(z)
        if direction == "remove":
            loss_j, density_j = r, r
        elif direction == "add":
            loss_j, density_j = -r, arb(0)
        else:
            loss_j, density_j = r - log_r(-z), r
        loss_.append(loss_j)
        weights.append((density_j + s_ * loss_j - z * z / 2).exp())
    scale = spacing_ / (2 * arb.pi()).sqrt()
    moment = sum(weights, arb(0)) * scale
    weights = [w * scale / moment for w in weights]
    step = arb(h)
    turn = [acb(0, step * x).exp() for x in loss_]
    state = [acb(w) for w in weights]
    eps_turn, eps_state = acb(0, -step * eps_).exp(), acb(1)
    total = acb(1) / (s_ * (s_ + 1)) / 2
    for n in range(1, int(reach / h) + 2):
        state = [x * t for x, t in zip(state, turn)]
        eps_state = eps_state * eps_turn
        s = acb(s_, step * n)
        total += sum(state, acb(0)) ** k * eps_state / (s * (s + 1))
    answer = total.real * step / arb.pi()
    return (answer.log() + k * moment.log() - s_ * eps_)


def reference(direction, q, sigma, k, eps):
    """log delta to about 30 digits, or None."""
    if k == 1 and direction != "replace":
        return closed_form(direction, q, sigma, eps)
    m = 1.0 / sigma  # the double that the program takes
    cumulant = Cumulant(direction, q, m)
    s0 = saddle(cumulant, k, eps)
    if s0 >= 2.9e4 / m:
        return None
    first = on_contour(direction, q, m, k, eps, s0, cumulant, 1.0)
    second = on_contour(direction, q, m, k, eps, 1.05 * s0, cumulant, 1.15) if first is not None else None
    if second is None:
        return None
    if not abs(float(first.mid()) - float(second.mid())) < 1e-12 or not abs(first.mid() - second.mid()) < 1e-24 * max(1, abs(float(first.mid()))):
        return None
    return mpf(first.mid().str(40, radius=False))


def closed_form(direction, q, sigma, eps):
    """One step with 60 digits and more (Spec §17.6)."""
    mp.dps = 400
    q, m, eps = mpf(q), mpf(1 / sigma), mpf(eps)
    phi = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
    if direction == "remove":
        if mp.exp(eps) <= 1 - q:
            value = 1 - mp.exp(eps)
        else:
            z = mp.log((mp.exp(eps) - (1 - q)) / q) / m + m / 2
            value = q * phi(m - z) - (q + mp.expm1(eps)) * phi(-z)
    else:
        if mp.exp(-eps) <= 1 - q:
            value = mpf(0)
        else:
            z = mp.log((mp.exp(-eps) - (1 - q)) / q) / m + m / 2
            value = -mp.expm1(eps) * phi(z) + mp.exp(eps) * q * (phi(z) - phi(z - m))
    return mp.log(value) if value > 0 else -mp.inf


# ---- settings ----

def random_settings(seed, count):
    rng = random.Random(seed)
    of_size = lambda low, high: math.exp(rng.uniform(math.log(low), math.log(high)))
    while count:
        direction = rng.choice(["remove", "remove", "add", "replace"])
        q = of_size(1e-4, 0.99) if rng.random() < 0.9 else of_size(1e-7, 1e-4)
        sigma = of_size(0.3, 20) if rng.random() < 0.9 else of_size(0.01, 100)
        k = math.floor(of_size(1, 1e7))
        cumulant = Cumulant(direction, q, 1 / sigma)
        _, mean, variance = cumulant.at(0.0)
        eps = float(k * mean + rng.uniform(-1, 9) * math.sqrt(k * variance))
        if rng.random() < 0.2:
            eps = of_size(0.01, 500)
        if not (math.isfinite(eps) and 0 <= eps <= 500):
            continue
        count -= 1
        yield direction, q, sigma, k, eps


CORNERS = [
    ("remove", 1e-7, 1.0, 10_000_000, 0.1), ("remove", 1e-3, 0.5, 10_000_000, 500.0), ("remove", 0.5, 100.0, 10_000_000, 60.0),
    ("remove", 0.01, 1.0, 10_000_000, 1000.0), ("add", 0.01, 1.0, 10_000, 3.0), ("replace", 0.01, 1.0, 10_000, 5.0),
    ("remove", 0.001, 1.0, 1000, 1.0), ("remove", 0.1, 1.0, 2, 1.0), ("remove", 0.3, 0.01, 3, 500.0), ("add", 0.3, 0.01, 3, 1.0),
    ("remove", 0.9999, 2.0, 100, 20.0), ("remove", 0.001, 2.0, 10_000_000, 20.0), ("add", 0.9, 1.7, 40, 15.0),
    ("replace", 0.05, 3.0, 5000, 30.0), ("remove", 0.999999, 30.0, 1000, 1.0),
]


def one_step_settings():
    for rest in (0.5, 1e-3, 1e-6, 1e-9, 1e-12):
        for sigma in (0.3, 0.5, 1.0, 5.0):
            for eps in (0.1, 1.0, 5.0, 20.0, 26.0):
                for direction in ("remove", "add"):
                    yield direction, 1.0 - rest, sigma, 1, eps


# ---- the checks ----

class Tally:
    def __init__(self, title):
        self.title, self.count, self.referenced, self.misses, self.widths, self.one_sided, self.seconds = title, 0, 0, [], [], 0, []

    def add(self, setting, log_lo, log_hi, log_truth, seconds):
        self.count += 1
        self.seconds.append(seconds)
        if math.isinf(log_lo) and not math.isinf(log_hi):
            self.one_sided += 1
        elif log_hi > -math.inf:
            self.widths.append(log_hi - log_lo)
        if log_truth is None:
            return
        self.referenced += 1
        # The reference has 25 digits and more, the ends are doubles.
        rounding = 4e-16 * max(1.0, abs(float(log_truth))) if log_truth > -mp.inf else 0.0
        if mpf(log_lo) > log_truth + rounding or mpf(log_hi) < log_truth - rounding:
            self.misses.append((setting, log_lo, log_hi, log_truth))

    def report(self):
        widths, seconds = sorted(self.widths), sorted(self.seconds)
        at = lambda values, share: values[min(len(values) - 1, int(share * len(values)))] if values else math.nan
        print(f"{self.title}: {self.count} settings, {self.referenced} with a reference, {len(self.misses)} missed; relative width median "
              f"{at(widths, .5):.1e}, 90 % {at(widths, .9):.1e}, 99 % {at(widths, .99):.1e}; only an upper end {self.one_sided}; "
              f"{1e3 * at(seconds, .5):.2f} ms each (median), {1e3 * at(seconds, .99):.0f} ms (99 %)")
        for setting, log_lo, log_hi, truth in self.misses[:10]:
            print(f"  MISSED {setting}: log delta {mp.nstr(truth, 20)} is not in [{log_lo!r}, {log_hi!r}]")


def against_references(driver, seed, count, known):
    for title, settings in (("random settings", random_settings(seed, count)), ("corners", CORNERS), ("one step", one_step_settings())):
        tally, second = Tally(title), Tally(title + ", by the lattice")
        for setting in settings:
            log_lo, log_hi, _, seconds = driver.ask("delta", *setting)
            truth = reference(*setting)
            known[setting] = (log_lo, log_hi, truth)
            tally.add(setting, log_lo, log_hi, truth, seconds)
            lattice_lo, lattice_hi, _, seconds = driver.ask("pld", *setting, 14)
            second.add(setting, lattice_lo, lattice_hi, truth, seconds)
            if lattice_lo > log_hi + 1e-12 or lattice_hi < log_lo - 1e-12:
                second.misses.append((setting, lattice_lo, lattice_hi, mpf(log_hi)))
        tally.report()
        second.report()
        yield tally
        yield second


def peer_bounds(direction, q, sigma, k, eps, interval, pessimistic):
    import dp_accounting
    from dp_accounting.pld import privacy_loss_distribution as pld
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE if direction == "replace" else dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    one = pld.from_gaussian_mechanism(sigma, value_discretization_interval=interval, sampling_prob=q, pessimistic_estimate=pessimistic,
                                      neighboring_relation=relation)
    return one.self_compose(k).get_delta_for_epsilon(eps)


def against_peer(driver, known, most):
    """dp-accounting takes the worse of both directions; so do we here."""
    agree = wrong_side = absent = 0
    spans = []
    for (direction, q, sigma, k, eps), (_, _, truth) in list(known.items()):
        if agree + wrong_side + absent >= most:
            break
        if (agree + wrong_side) % 10 == 0:
            print(f"  {agree} intersect, {wrong_side} do not, so far", file=sys.stderr, flush=True)
        if direction == "add" or not 1e-5 <= q < 1 or k < 2 or sigma < 0.3:
            continue
        _, mean, variance = Cumulant(direction, q, 1 / sigma).at(0.0)
        interval = max(1e-5, (20 * math.sqrt(k * variance) + 10 / sigma) / 2e5)
        if interval > 0.02 * math.sqrt(variance * k):
            continue
        try:
            high = peer_bounds(direction, q, sigma, k, eps, interval, True)
            low = peer_bounds(direction, q, sigma, k, eps, interval, False)
        except Exception as error:  # noqa: BLE001: what it does not support
            absent += 1
            print(f"  dp-accounting gives nothing for {(direction, q, sigma, k, eps)}: {type(error).__name__}")
            continue
        both = [driver.ask("delta", d, q, sigma, k, eps) for d in (("remove", "add") if direction == "remove" else ("replace",))]
        lo, hi = math.exp(max(b[0] for b in both)), math.exp(max(b[1] for b in both))
        if low <= hi * (1 + 1e-12) and lo <= high * (1 + 1e-12):
            agree += 1
            if low > 0:
                spans.append(high / low - 1)
        else:
            wrong_side += 1
            side = "its pessimistic delta is below the truth" if high < lo else "its optimistic delta is above the truth"
            exact = f", reference {mp.nstr(mp.exp(truth), 8)}" if truth is not None and direction == "remove" else ""
            print(f"  dp-accounting on the wrong side at {(direction, q, sigma, k, eps)}, interval {interval:.1e}: [{low:.6g}, {high:.6g}], "
                  f"ours [{lo:.6g}, {hi:.6g}]{exact}: {side}")
    spans.sort()
    print(f"dp-accounting: {agree} enclosures intersect, {wrong_side} do not (see above), {absent} not supported; its own relative width, "
          f"median {spans[len(spans) // 2] if spans else math.nan:.1e}")


def known_wrong_answers(driver):
    """Each is what somebody's formula gives; the enclosure has to exclude it. (what, wrong value, ours, whether excluded)"""
    results = []
    # The classical Gaussian mechanism, sigma = sqrt(2 log(1.25/delta)) / eps, is proved for eps <= 1 only.
    eps, delta = 20.0, 1e-5
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / eps
    lo, hi, _, _ = driver.ask("delta", "remove", 1.0, sigma, 1, eps)
    results.append(("classical Gaussian formula at eps = 20: delta 1e-5", delta, math.exp(lo), math.exp(lo) > delta))
    # Renyi divergence q^2 a / sigma^2, which holds for small orders a only, at the order that suits best.
    slope = 1000 * 0.01 ** 2 / 0.5 ** 2
    lo, _, _, _ = driver.ask("epsilon", "both", 0.01, 0.5, 1000, 1e-5)
    wrong = slope + 2 * math.sqrt(slope * math.log(1e5))
    results.append(("Renyi formula above its orders (q .01, sigma .5, 1,000 steps)", wrong, lo, lo > 2 * wrong))
    lo, hi, _, _ = driver.ask("delta", "remove", 0.001, 1.0, 1000, 1.0)
    results.append(("pessimistic delta 2.118e-13 of an untilted transform (truth 2.54093e-13)", 2.118e-13, math.exp(lo), math.exp(lo) > 2.118e-13))
    # Shuffled batches accounted as Poisson: 10 epochs of 100 batches, sigma 1.
    lo, hi, _, _ = driver.ask("epsilon", "remove", 0.01, 1.0, 1000, 1e-5)
    shuffled, _, _, _ = driver.ask("epsilon", "remove", 1.0, 1.0, 10, 1e-5)
    results.append(("Poisson epsilon for a shuffled run, 10 epochs", hi, shuffled, shuffled > 2 * hi))
    # Clipping each of 16 tensors to C with noise for one of them: the multiplier is sigma/4, not sigma.
    _, claimed, _, _ = driver.ask("epsilon", "both", 0.01, 1.0, 1000, 1e-5)
    right, _, _, _ = driver.ask("epsilon", "both", 0.01, 0.25, 1000, 1e-5)
    results.append(("per-tensor clip of 16 tensors accounted as global", claimed, right, right > claimed))
    for what, wrong, ours, excluded in results:
        print(f"  {'excluded' if excluded else 'NOT EXCLUDED'}: {what}: {wrong:.6g}, at least {ours:.6g}")
    return all(r[3] for r in results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--settings", type=int, default=500)
    parser.add_argument("--peers", type=int, default=60)
    parser.add_argument("--driver", default="build/bench/macro_accounting")
    parser.add_argument("--peers-only", action="store_true", help="dp-accounting alone, on settings without references")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # dp-accounting says for each optimistic estimate how it makes it
    mp.dps = 60
    driver, known, started = Driver(options.driver), {}, time.time()
    if options.peers_only:
        against_peer(driver, {setting: (None, None, None) for setting in random_settings(options.seed, options.settings)}, options.peers)
        return 0
    failed = any([bool(t.misses) for t in against_references(driver, options.seed, options.settings, known)])
    if options.peers:
        against_peer(driver, known, options.peers)
    print("known wrong answers of others:")
    failed = not known_wrong_answers(driver) or failed
    print(f"accounting: {'FAILED' if failed else 'passed'}, seed {options.seed}, {time.time() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
