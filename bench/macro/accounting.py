#!/usr/bin/env python3
"""The accountant beside dp-accounting and, where they are installed, prv-accountant and Opacus' PRV, in one run.

Times are of the processor (both sides use one core), medians of nine for ours and of three for the others; widths are beside them,
because a fast loose answer is no win. Answers are compared before anything is timed. The peers come from the environment of
`make oracles` (.venv-oracles); `pip install --no-deps prv-accountant opacus` into it adds the others.
"""
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import time
import types

DRIVER = os.environ.get("ACCOUNTING", "build/bench/macro_accounting")
SFUMATO = os.environ.get("SFUMATO", "build/bin/sfumato")
PYTHON = ".venv-oracles/bin/python"

try:
    import dp_accounting
    from dp_accounting import pld, rdp
except ImportError:
    if os.path.exists(PYTHON) and os.environ.get("ACCOUNTING_PEERS") is None:
        os.environ["ACCOUNTING_PEERS"] = "1"
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    print("accounting: no dp-accounting here; run `make oracles` once, which installs it")
    sys.exit(0)
try:
    import prv_accountant
except ImportError:
    prv_accountant = None


def opacus_accountant():
    """Opacus' PRVAccountant, or None. Its package imports PyTorch, of which this part needs nothing: it is loaded by itself."""
    found = importlib.util.find_spec("opacus")
    if found is None:
        return None
    for name in ("opacus", "opacus.accountants", "opacus.optimizers"):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(found.submodule_search_locations[0], *name.split(".")[1:])]
        sys.modules[name] = module
    sys.modules["opacus.optimizers"].DPOptimizer = object  # of an annotation
    from opacus.accountants.prv import PRVAccountant
    return PRVAccountant


OPACUS = opacus_accountant()


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if answer[0].startswith("error"):
            raise RuntimeError(" ".join(answer))
        return float(answer[0]), float(answer[1]), float(answer[3])

    def timed(self, *words, repeats=9):
        answers = [self.ask(*words) for _ in range(repeats)]
        return answers[0][0], answers[0][1], statistics.median(a[2] for a in answers)


def timed(function, repeats=3):
    """The answer, and the median of its processor seconds."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        answer = function()
        seconds.append(time.process_time() - started)
    return answer, statistics.median(seconds)


def dp_event(q, sigma, k):
    return dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma)), k)


def pld_epsilon(q, sigma, k, delta):
    return pld.PLDAccountant().compose(dp_event(q, sigma, k)).get_epsilon(delta)


def rdp_epsilon(q, sigma, k, delta):
    return rdp.RdpAccountant().compose(dp_event(q, sigma, k)).get_epsilon(delta)


def prv_epsilon(q, sigma, k, delta):
    mechanism = prv_accountant.PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
    accountant = prv_accountant.PRVAccountant(prvs=[mechanism], max_self_compositions=[k], eps_error=0.01, delta_error=delta / 1000)
    return accountant.compute_epsilon(delta=delta, num_self_compositions=[k])


def opacus_epsilon(q, sigma, k, delta):
    accountant = OPACUS()
    accountant.history = [(sigma, q, k)]
    return accountant.get_epsilon(delta=delta, eps_error=0.01)


def line(what, value, width, seconds, ratio=""):
    print(f"| {what} | {value} | {width} | {1e3 * seconds:.3g} ms | {ratio} |", flush=True)


def one_setting(driver, q, sigma, k, delta):
    print(f"\nepsilon at q = {q}, sigma = {sigma}, {k:,} steps, delta = {delta}\n\n| | epsilon | width | time | ours is faster by |\n| --- | --- | --- | --- | --- |")
    lo, hi, ours = driver.timed("epsilon", "both", q, sigma, k, delta)
    line("contour, both directions", f"{hi:.12g}", f"{hi - lo:.1e}", ours)
    epsilon, seconds = timed(lambda: pld_epsilon(q, sigma, k, delta))
    if epsilon < lo * (1 - 1e-3):
        print(f"dp-accounting's PLD is below the truth: {epsilon} < {lo}")
    line("dp-accounting PLD (interval 1e-4)", f"{epsilon:.12g}", f"{epsilon - lo:+.1e} above", seconds, f"{seconds / ours:,.0f}x")
    epsilon, seconds = timed(lambda: rdp_epsilon(q, sigma, k, delta))
    line("dp-accounting RDP", f"{epsilon:.6g}", f"{epsilon - lo:+.1e} above", seconds, f"{seconds / ours:,.1f}x")
    if prv_accountant:
        try:
            (low, estimate, high), seconds = timed(lambda: prv_epsilon(q, sigma, k, delta))
            line("prv-accountant (eps_error 0.01)", f"{estimate:.6g}", f"{high - low:.1e}", seconds, f"{seconds / ours:,.0f}x")
        except Exception as error:  # noqa: BLE001: what it does not support
            print(f"prv-accountant gives nothing: {type(error).__name__}")
    if OPACUS:
        try:
            epsilon, seconds = timed(lambda: opacus_epsilon(q, sigma, k, delta))
            line("Opacus' PRV (eps_error 0.01, its upper end)", f"{epsilon:.6g}", f"{epsilon - lo:+.1e} above", seconds, f"{seconds / ours:,.0f}x")
        except Exception as error:  # noqa: BLE001: likewise
            print(f"Opacus' PRV gives nothing: {type(error).__name__}: {error}")


def by_steps(driver):
    print("\ntime by the number of steps, q = 0.01, delta = 1e-6, sigma = max(0.6, sqrt(steps)/50)\n\n| steps | epsilon | width | time |\n| --- | --- | --- | --- |")
    for k in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000):
        lo, hi, seconds = driver.timed("epsilon", "both", 0.01, max(0.6, math.sqrt(k) / 50), k, 1e-6, repeats=5)
        print(f"| {k:,} | {hi:.8g} | {hi - lo:.1e} | {1e3 * seconds:.3g} ms |", flush=True)


def calibration(driver, q, k, epsilon, delta):
    print(f"\nleast noise multiplier for epsilon = {epsilon}, delta = {delta}, q = {q}, {k:,} steps\n\n| | sigma | time | ours is faster by |\n| --- | --- | --- | --- |")
    sigma, _, ours = driver.timed("noise", "both", q, "-", k, epsilon, delta)
    print(f"| contour | {sigma:.12g} | {1e3 * ours:.3g} ms | |", flush=True)

    def peer():
        return dp_accounting.calibrate_dp_mechanism(
            pld.PLDAccountant, lambda sigma: dp_event(q, sigma, k), epsilon, delta,
            dp_accounting.LowerEndpointAndGuess(0.5 * sigma, sigma), tol=1e-4)
    theirs, seconds = timed(peer, repeats=1)
    print(f"| dp-accounting PLD, tolerance 1e-4 | {theirs:.8g} | {1e3 * seconds:.3g} ms | {seconds / ours:,.0f}x |", flush=True)


def sweep(driver):
    seconds = 0.0
    widths = []
    for i in range(1000):
        q, sigma, k = 0.001 * 1.5 ** (i % 10), 0.8 + 0.2 * (i // 10 % 10), math.floor(1000 * 1.6 ** (i // 100))
        lo, hi, one = driver.ask("epsilon", "both", q, sigma, k, 1e-5)
        seconds += one
        widths.append(hi - lo)
    widths.sort()
    print(f"\na sweep of 1,000 settings (q 0.001 to 0.038, sigma 0.8 to 2.6, 1,000 to 68,719 steps): {seconds:.2f} s; width of epsilon median "
          f"{widths[500]:.1e}, largest {widths[-1]:.1e}")


def command():
    words = [SFUMATO, "account", "--sampler", "poisson", "--noise_multiplier", "2", "--sample_rate", "0.01", "--steps", "10000",
             "--target_delta", "1e-6"]
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        if subprocess.run(words, capture_output=True).returncode:
            print("\n`sfumato account` is not there")
            return
        seconds.append(time.perf_counter() - started)
    print(f"\nthe command `sfumato account` for the first setting, wall time: {1e3 * statistics.median(seconds):.0f} ms")


def main():
    driver = Driver()
    only = sys.argv[1:] or ["one", "steps", "calibration", "sweep", "command"]
    if "one" in only:
        one_setting(driver, 0.01, 2.0, 10_000, 1e-6)
        one_setting(driver, 0.01, 1.0, 1000, 1e-5)
    if "steps" in only:
        by_steps(driver)
    if "calibration" in only:
        calibration(driver, 0.01, 10_000, 1.0, 1e-6)
    if "sweep" in only:
        sweep(driver)
    if "command" in only:
        command()


if __name__ == "__main__":
    main()
