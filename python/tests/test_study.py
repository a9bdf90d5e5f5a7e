import pathlib
import tempfile
import unittest

import sfumato
from support import SOURCE, TestCase, command_line, numbers


class Studies(TestCase):
    def test_run_audit_report(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            study = sfumato.Study.from_toml(SOURCE / "studies/ridge_exact.toml")
            study = study.set(**{"audit.replicas": 20}) if "replicas" in str(study.keys()) else study
            ledger = study.run(folder / "ridge.ledger", threads=2)
            self.assertTrue((folder / "ridge.ledger").exists())
            self.assertEqual(ledger.last_run.verdict, "none")
            answer = ledger.audit()
            self.assertEqual(numbers(answer.to_dict()), numbers(command_line("audit", ledger.path)))
            ledger.report(folder / "page.html")
            self.assertTrue((folder / "page.html").exists())
            ledger.export(folder / "trials.csv")
            self.assertTrue((folder / "trials.csv").exists())
            self.assertIn("ridge", str(ledger.status()).lower())

    def test_refusals(self):
        self.assertRefused(ValueError, "nowhere", lambda: sfumato.Ledger("nowhere.ledger").audit())
        with self.assertRaises(FileNotFoundError):
            sfumato.Study.from_toml("nowhere.toml")
        study = sfumato.Study.from_toml(SOURCE / "studies/ridge_exact.toml").set(**{"audit.nothing": 3})
        self.assertRefused(ValueError, "nothing", lambda: study.run("x.ledger"))


if __name__ == "__main__":
    unittest.main()
