"""tools/sbom: a bill of materials has the structure of CycloneDX 1.5 and names what the program is made of.

SFUMATO names the program (the build tree's by default).
"""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))


def sbom(*options):
    return subprocess.run([ROOT / "tools/sbom", *options], capture_output=True, text=True, check=False)


@unittest.skipUnless(shutil.which("dpkg-query"), "this is no Debian")
class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = sbom("--program", SFUMATO)
        assert result.returncode == 0, result.stderr
        cls.text = result.stdout
        cls.bill = json.loads(result.stdout)
        cls.components = {c["bom-ref"]: c for c in cls.bill["components"]}

    def test_structure(self):
        self.assertEqual(set(self.bill), {"bomFormat", "specVersion", "version", "metadata", "components", "dependencies"})
        self.assertEqual((self.bill["bomFormat"], self.bill["specVersion"], self.bill["version"]), ("CycloneDX", "1.5", 1))
        itself = self.bill["metadata"]["component"]
        self.assertEqual((itself["type"], itself["name"]), ("application", "sfumato"))
        self.assertEqual(len(self.components), len(self.bill["components"]), "references are not unique")
        for component in self.bill["components"]:
            with self.subTest(component["bom-ref"]):
                self.assertEqual(component["type"], "library")
                self.assertIn(component["scope"], ("required", "excluded"))
                self.assertRegex(component["version"], r"^\d\S*$")
                self.assertRegex(component["purl"], r"^pkg:(deb/debian|npm)/[\w@%./+-]+@[\w%.+~-]+(\?arch=\w+)?$")
                for digest in component.get("hashes", []):
                    self.assertEqual(digest["alg"], "SHA-512")
                    self.assertRegex(digest["content"], r"^[0-9a-f]{128}$")

    def test_dependencies_are_what_is_in_the_program(self):
        (whole,) = self.bill["dependencies"]
        self.assertEqual(whole["ref"], self.bill["metadata"]["component"]["bom-ref"])
        required = [ref for ref, c in self.components.items() if c["scope"] == "required"]
        self.assertEqual(whole["dependsOn"], required)
        names = {self.components[ref]["name"] for ref in required}
        self.assertTrue({"d3", "@observablehq/plot", "libeigen3-dev", "libsqlite3-0", "libc6"} <= names, names)
        self.assertFalse({"esbuild", "axe-core", "playwright-core"} & names)

    def test_every_library_and_package_is_there(self):
        loaded = subprocess.run(["readelf", "-d", SFUMATO], capture_output=True, text=True, check=True).stdout
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", loaded)
        search = subprocess.run(["dpkg-query", "--search", *(f"*/{library}" for library in libraries)],
                                capture_output=True, text=True, check=True).stdout.splitlines()
        names = {c["name"] for c in self.components.values()}
        for library in libraries:
            owners = {line.split(":")[0] for line in search if line.endswith("/" + library)}
            self.assertTrue(owners & names, library)
        lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
        for path, package in lock.items():
            if not path:  # the project itself
                continue
            name = path.split("node_modules/")[-1].replace("@", "%40")
            digest = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
            self.assertEqual(self.components[f"pkg:npm/{name}@{package['version']}"]["hashes"][0]["content"], digest)

    def test_the_same_build_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "sbom.json"
            self.assertEqual(sbom("--program", SFUMATO, "--out", out).returncode, 0)
            self.assertEqual(out.read_text(), self.text)

    def test_refusals(self):
        missing = sbom("--program", "/nowhere/sfumato")
        self.assertEqual(missing.returncode, 1)
        self.assertEqual(missing.stderr.count("\n"), 1)
        self.assertIn("/nowhere/sfumato does not exist", missing.stderr)


if __name__ == "__main__":
    unittest.main()
