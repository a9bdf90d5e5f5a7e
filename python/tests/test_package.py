"""The package as it is installed."""

import doctest
import os
import subprocess
import sys
import unittest

import sfumato
from sfumato import accounting, estimators, fitting, questions, study
from support import SOURCE, TestCase


class Package(TestCase):
    def test_import_is_quick_and_light(self):
        code = ("import time; t = time.process_time(); import sfumato; t = time.process_time() - t; import sys; "
                "print(t, *(m for m in ('numpy', 'torch', 'pandas', 'tqdm') if m in sys.modules))")
        runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
                for _ in range(5)]
        self.assertEqual(runs[0][1:], [])
        self.assertLess(min(float(run[0]) for run in runs), 0.2)

    def test_names(self):
        for name in sfumato.__all__:
            self.assertTrue(hasattr(sfumato, name), name)
        self.assertRegex(sfumato.__version__, r"^\d+\.\d+\.\d+$")

    def test_examples_of_the_docstrings(self):
        here = os.getcwd()
        os.chdir(SOURCE)
        self.addCleanup(os.chdir, here)
        for module in (accounting, estimators, fitting, questions, study):
            failed, tried = doctest.testmod(module)
            self.assertEqual(failed, 0)
            self.assertGreater(tried, 0)

    def test_examples_of_the_page(self):
        here = os.getcwd()
        os.chdir(SOURCE)
        self.addCleanup(os.chdir, here)
        text = (SOURCE / "docs" / "python.md").read_text().replace("```", "")
        test = doctest.DocTestParser().get_doctest(text, {}, "python.md", "docs/python.md", 0)
        runner = doctest.DocTestRunner()
        runner.run(test)
        self.assertEqual(runner.failures, 0)
        self.assertGreater(runner.tries, 20)

    def test_keys_are_those_of_the_library(self):
        names = [key["key"] for key in sfumato.keys("account")]
        self.assertIn("noise_multiplier", names)
        self.assertRefused(ValueError, "Did you mean `rows`", lambda: sfumato.keys("row"))


if __name__ == "__main__":
    unittest.main()
