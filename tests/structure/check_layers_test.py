"""Each rule of tools/check_layers.py passes on a good tree and fails on a tree that breaks only it."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402

GOOD = {
    "src/sfumato/core/error.hpp": '#pragma once\n\n#include <string>\n',
    "src/sfumato/core/error.cpp": '#include "sfumato/core/error.hpp"\n\n#include <fmt/format.h>\n'
                                  'static_assert(sizeof(int) == 4);\n'
                                  'const char* text = "std::cout and exit(1)";  // abort()\n',
    "src/sfumato/math/psi.hpp": '#pragma once\n#include <Eigen/Core>\n#include "sfumato/core/error.hpp"\n',
    "src/sfumato/data/csv.cpp": '#include <zlib.h>\n#include <toml++/toml.h>\n'
                                '#include "sfumato/math/psi.hpp"\n',
    "include/sfumato/sfumato.hpp": '#pragma once\n#include "sfumato/risk/risk.hpp"\n',
    "include/sfumato/risk/risk.hpp": '#pragma once\n#include <Eigen/Core>\n#include <string>\n'
                                        '#include "sfumato/version.hpp"\n',
    "src/sfumato/risk/risk.cpp": '#include "sfumato/risk/risk.hpp"\n\n#include "sfumato/math/psi.hpp"\n',
    "src/lab/nn/net.hpp": '#pragma once\n#include "sfumato/risk/risk.hpp"\n',
    "apps/cli/rows.hpp": "#pragma once\n",
    "apps/cli/rows.cpp": '#include "rows.hpp"\n\n#include <CLI/CLI.hpp>\n#include <iostream>\n'
                    '#include "sfumato/report/document.hpp"\nint f() { std::cout << 1; exit(2); }\n',
    "tests/unit/math/psi_test.cpp": '#include <gtest/gtest.h>\n#include "sfumato/math/psi.hpp"\n',
    "tests/golden/any_test.cpp": '#include "sfumato/report/document.hpp"\n',
}


class CheckLayers(unittest.TestCase):
    def violations(self, **changes):
        """Violations of the good tree after writing the given files (path=text) over it."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**GOOD, **changes}.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return check_layers.Checker(folder).run()

    def assert_breaks(self, rule, path, text):
        found = self.violations(**{path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"[{rule}]", found[0])
        folder = "include/sfumato" if rule == "whole" else path.rsplit("/", 1)[0]
        self.assertTrue(found[0].startswith(folder), found[0])

    def test_good_tree_passes(self):
        self.assertEqual(self.violations(), [])

    def test_words_as_data(self):
        path = "src/sfumato/rows/words.cpp"
        for code in ('auto f(const std::string& s) { return s.find(":"); }', "auto f(Text& t) { return t->substr(1); }",
                     'bool f(const std::string& s) { return s.starts_with("eps"); }', "std::regex words;\n",
                     "std::istringstream lines(text);\n"):
            self.assert_breaks("words-as-data", path, code)
        for code in ("auto f(const Search& s) { return s.find(); }", "auto f() { return std::find(a, b, c); }",
                     'const char* text = "use .substr(1)";  // .find(x)\n'):
            self.assertEqual(self.violations(**{path: code}), [])

    def test_words_may_be_looked_into_where_people_wrote_them(self):
        code = 'auto f(const std::string& s) { return s.find("="); }'
        for path in ("src/sfumato/rows/rows_question.cpp", "src/sfumato/data/any.cpp"):
            self.assertEqual(self.violations(**{path: code}), [])

    def test_upward_include(self):
        self.assert_breaks("upward-include", "src/sfumato/math/a.hpp",
                           '#pragma once\n#include "sfumato/sde/ou_distribution.hpp"\n')

    def test_upward_include_from_a_test(self):
        self.assert_breaks("upward-include", "tests/property/math/a_test.cpp",
                           '#include "sfumato/sde/ou_distribution.hpp"\n')

    def test_sideways_include(self):
        for module in ("audit", "storage"):
            self.assert_breaks("sideways-include", "src/sfumato/risk/a.hpp",
                               f'#pragma once\n#include "sfumato/{module}/a.hpp"\n')
        self.assert_breaks("sideways-include", "src/lab/train/a.hpp", '#pragma once\n#include "lab/audit/a.hpp"\n')

    def test_questions_do_not_know_each_other(self):
        shared = '#pragma once\n#include "sfumato/problem/side.hpp"\n'
        own = '#pragma once\n#include "sfumato/bound/bound_answer.hpp"\n'
        self.assertEqual(self.violations(**{"src/sfumato/bound/a.hpp": shared}), [])
        self.assertEqual(self.violations(**{"src/sfumato/bound/a.hpp": own}), [])
        self.assert_breaks("sideways-include", "src/sfumato/design/a.hpp", own)
        self.assert_breaks("upward-include", "src/sfumato/problem/a.hpp", own)

    def test_the_accountant_knows_nothing_of_the_question(self):
        own = '#pragma once\n#include "sfumato/account/account_answer.hpp"\n'
        self.assert_breaks("upward-include", "src/sfumato/account/contour/a.hpp", own)
        self.assertEqual(self.violations(**{"src/sfumato/account/a.hpp": '#pragma once\n#include "sfumato/account/contour/b.hpp"\n'}), [])

    def test_the_library_knows_nothing_of_the_laboratory_and_of_programs(self):
        self.assert_breaks("upward-include", "src/sfumato/fit/a.hpp", '#pragma once\n#include "lab/nn/a.hpp"\n')
        self.assert_breaks("upward-include", "src/sfumato/fit/a.hpp", '#pragma once\n#include "sfumato/lab/ledger/a.hpp"\n')
        self.assert_breaks("upward-include", "src/lab/study/a.hpp", '#pragma once\n#include "reproduce/a.hpp"\n')
        self.assert_breaks("upward-include", "apps/reproduce/a.hpp", '#pragma once\n#include "cli/a.hpp"\n')

    def test_commented_include_does_not_count(self):
        self.assertEqual(self.violations(**{
            "src/sfumato/math/a.hpp": '#pragma once\n// #include "sfumato/sde/ou_distribution.hpp"\n'}), [])

    def test_unknown_module(self):
        self.assert_breaks("unknown-module", "src/sfumato/misc/a.hpp", "#pragma once\n")
        self.assert_breaks("unknown-module", "src/sfumato/math/a.hpp",
                           '#pragma once\n#include "sfumato/misc/a.hpp"\n')
        self.assert_breaks("unknown-module", "tests/unit/misc/a_test.cpp", "int i;\n")

    def test_own_header_first(self):
        self.assert_breaks("own-header-first", "src/sfumato/core/error.cpp",
                           '#include <string>\n#include "sfumato/core/error.hpp"\n')
        self.assert_breaks("own-header-first", "apps/cli/rows.cpp", '#include <string>\n#include "rows.hpp"\n')

        self.assert_breaks("own-header-first", "src/sfumato/risk/risk.cpp",
                           '#include <string>\n#include "sfumato/risk/risk.hpp"\n')

    def test_public_headers_include_public_headers(self):
        header = "include/sfumato/risk/risk.hpp"
        self.assert_breaks("private-include", header, '#pragma once\n#include "sfumato/math/psi.hpp"\n')
        self.assert_breaks("private-include", header, '#pragma once\n#include <fmt/format.h>\n')
        self.assert_breaks("private-include", header, '#pragma once\n#include <boost/math/tools/roots.hpp>\n')

    def test_one_header_includes_every_public_one(self):
        self.assert_breaks("whole", "include/sfumato/math/a.hpp", "#pragma once\n")
        self.assert_breaks("unknown-module", "src/sfumato/risk/a.hpp",
                           '#pragma once\n#include "sfumato/sfumato.hpp"\n')

    def test_two_types_of_one_name(self):
        self.assertEqual(self.violations(**{
            "src/sfumato/math/a.hpp": "#pragma once\nstruct Other;\nstruct Point {\n  struct Part {};\n};\n",
            "src/lab/nn/a.hpp": "#pragma once\nstruct Point;\nclass Other {\n  struct Part {};\n};\n"}), [])
        found = self.violations(**{"src/sfumato/math/a.hpp": "#pragma once\nstruct Point {};\n",
                                   "src/lab/nn/a.hpp": "#pragma once\nusing Point = double;\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("[two-definitions]", found[0])

    def test_relative_include(self):
        self.assert_breaks("relative-include", "src/sfumato/math/a.hpp",
                           '#pragma once\n#include "../core/error.hpp"\n')
        self.assert_breaks("relative-include", "tests/unit/math/a_test.cpp",
                           '#include "../../support.hpp"\n')

    def test_include_form(self):
        self.assert_breaks("include-form", "src/sfumato/math/a.hpp", '#pragma once\n#include "psi.hpp"\n')
        self.assert_breaks("include-form", "src/sfumato/math/a.hpp",
                           '#pragma once\n#include <sfumato/core/error.hpp>\n')

    def test_third_party_out_of_place(self):
        for header in ("toml++/toml.hpp", "CLI/CLI.hpp", "zlib.h", "nlohmann/json.hpp", "sqlite3.h",
                       "mpi.h", "Python.h", "gtest/gtest.h", "rapidcheck.h", "benchmark/benchmark.h"):
            with self.subTest(header=header):
                self.assert_breaks("third-party", "src/sfumato/math/a.cpp", f"#include <{header}>\n")
        self.assert_breaks("third-party", "src/sfumato/core/a.cpp", "#include <Eigen/Core>\n")

    def test_third_party_in_a_header_of_its_own_module(self):
        self.assert_breaks("third-party", "src/sfumato/data/a.hpp", "#pragma once\n#include <zlib.h>\n")

    def test_pragma_once(self):
        self.assert_breaks("pragma-once", "src/sfumato/math/a.hpp", "int f();\n")

    def test_library_is_silent(self):
        for line in ("std::cout << 1;", "std::cerr << 1;", 'printf("x");', 'std::printf("x");',
                     'fmt::print("x");', 'puts("x");', "exit(1);", "std::exit(1);", "abort();",
                     "std::abort();", "std::terminate();", "assert(x);"):
            with self.subTest(line=line):
                self.assert_breaks("library-silence", "src/sfumato/math/a.cpp", f"void f() {{ {line} }}\n")
        for header in ("iostream", "cassert"):
            self.assert_breaks("library-silence", "src/sfumato/math/a.cpp", f"#include <{header}>\n")

    def test_words_that_only_look_alike(self):
        self.assertEqual(self.violations(**{
            "src/sfumato/math/a.cpp": "void f() { std::snprintf(b, 1, x); static_assert(true);"
                                      " loop.exit(); on_exit(1); constexpr int n = 1'000'000; }\n"}), [])


if __name__ == "__main__":
    unittest.main()
