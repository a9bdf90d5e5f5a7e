"""Every reference value, by the code that is in the wheel."""

import unittest

import sfumato
from support import SOURCE, TestCase


class Golden(TestCase):
    def test_every_reference_value(self):
        files = sorted((SOURCE / "tests" / "golden").glob("*.json"))
        self.assertGreater(len(files), 5)
        for path in files:
            answer = sfumato.verify(path, strict=True)
            self.assertEqual(answer.verdict, "holds", path.name)


if __name__ == "__main__":
    unittest.main()
