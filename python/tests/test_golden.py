"""Every reference value, by the code that is in the wheel and by the program: the same numbers."""

import unittest

import sfumato
from support import SOURCE, TestCase, command_line, numbers


class Golden(TestCase):
    def test_every_reference_value(self):
        files = sorted((SOURCE / "tests" / "golden").glob("*.json"))
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(path.name):
                answer = sfumato.verify(path, strict=True)
                self.assertEqual(answer.verdict, "holds")
                self.assertEqual(numbers(answer.to_dict()), numbers(command_line("verify", path, "--strict")))


if __name__ == "__main__":
    unittest.main()
