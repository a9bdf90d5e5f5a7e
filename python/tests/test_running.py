"""Long calls: Ctrl-C, progress, other threads meanwhile, memory."""

import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import numpy as np

import sfumato
from support import TestCase

LONG = dict(times=[1.0], paths=2_000_000, step=0.0005, fokker_planck=False)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Running(TestCase):
    def test_ctrl_c(self):
        code = textwrap.dedent(f"""
            import sfumato, sys
            print("go", flush=True)
            try:
                sfumato.bound("x - x^3", "x - x^3 + 0.1", 1.0, **{LONG!r})
            except KeyboardInterrupt:
                print("stopped", flush=True)
        """)
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "go\n")
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        self.assertEqual(process.stdout.readline(), "stopped\n")
        self.assertLess(time.monotonic() - begun, 5.0)
        self.assertEqual(process.wait(), 0)
        process.stdout.close()

    def test_progress_and_other_threads(self):
        seen, ticks, done = [], [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.005)

        thread = threading.Thread(target=tick)
        thread.start()
        keys = dict(LONG, paths=60_000, step=0.001)
        sfumato.bound("x - x^3", "x - x^3 + 0.1", 1.0, progress=lambda *state: seen.append(state), **keys)
        done.set()
        thread.join()
        self.assertTrue(seen)
        self.assertTrue(all(0 <= finished <= total for _, finished, total in seen))
        self.assertGreater(len(ticks), 10)  # the GIL was free

    def test_what_progress_raises_stops_the_work(self):
        class Enough(Exception):
            pass

        def stop(*_):
            raise Enough

        begun = time.monotonic()
        with self.assertRaises(Enough):
            sfumato.bound("x - x^3", "x - x^3 + 0.1", 1.0, progress=stop, **LONG)
        self.assertLess(time.monotonic() - begun, 10.0)

    def test_memory_stays(self):
        """10,000 calls of each kind; SFUMATO_LEAKS=full also of those that take long."""
        accountant = sfumato.Accountant()
        accountant.step(1.0, 0.01, 100)
        claimed = sfumato.Claimed(1.0, "upper_bound", "method " * 20, ["an assumption " * 10])
        calls = {
            "step": lambda: accountant.step(1.0 + np.random.random() * 0, 0.01),
            "claimed": lambda: (claimed.to_dict(), claimed._repr_html_(), repr(claimed)),
            "epsilon of a new accountant": lambda: sfumato.Accountant().history,
            "refusal": lambda: self.refused(accountant),
        }
        if os.environ.get("SFUMATO_LEAKS") == "full":
            calls["ask"] = lambda: sfumato.quadratic(d=dict(A=1, minimiser=0, Sigma=2), d_prime=dict(minimiser=0.1),
                                                     times=[1.0]).to_dict()
            calls["audit"] = lambda: sfumato.audit(np.arange(50.0) + 9, np.arange(50.0), claim=(1, 1e-5)).epsilon
            calls["rows"] = lambda: sfumato.rows({"x": np.arange(9.0), "y": np.arange(9.0) ** 2}, "y", noise=1).risks
        for name, call in calls.items():
            for _ in range(1000):
                call()
            gc.collect()
            before = resident()
            for _ in range(10_000):
                call()
            gc.collect()
            self.assertLess(resident() - before, 3_000_000, name)  # 300 bytes a call would be a leak

    @staticmethod
    def refused(accountant):
        try:
            accountant.step(-1.0)
        except ValueError:
            return
        raise AssertionError


if __name__ == "__main__":
    unittest.main()
