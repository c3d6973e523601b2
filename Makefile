# Every target sets itself up: a virtual environment in .venv, pip always with constraints.txt, the compiled
# core built in place. Stamps in .venv remember what is done, so that a second call is quick.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

VENV := .venv
PY := $(VENV)/bin/python
BENCH_VENV := .venv-bench-relucent
VERIFIERS_VENV := .venv-bench-verifiers
PIP_INSTALL := -m pip --disable-pip-version-check -qq install -c constraints.txt

# The first interpreter that is new enough; `make PYTHON=... setup` overrules.
NEW_ENOUGH := import sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo $$p; break; }; done)

# A virtual environment whose Python is gone, or that was moved here from another place, is made again.
healthy = $(shell $(1)/bin/python -c 'import sys' >/dev/null 2>&1 && \
	{ ! grep -q '^command' $(1)/pyvenv.cfg || grep -qF -- '$(CURDIR)/$(1)' $(1)/pyvenv.cfg; } && echo yes)
# Prerequisite that forces a rule exactly when the environment named is not healthy.
unless_healthy = $(if $(call healthy,$(1)),,FORCE)

SOURCES := src studies tests benchmarks tools examples
# Folders are listed too: their time changes when a file is added or removed.
NATIVE := $(shell find native -not -name '.*' 2>/dev/null) CMakeLists.txt
NATIVE_CODE := $(filter %.hpp %.cpp,$(NATIVE))

# More options for benchmarks/bench.py, say BENCH_OPTIONS='--relucent-seconds 60' or '--only count interrupts'.
BENCH_OPTIONS ?=
BENCH = $(PY) benchmarks/bench.py --relucent $(BENCH_VENV)/bin/python --before $(BEFORE_PY) \
	--verifiers $(VERIFIERS_VENV)/bin/python $(BENCH_OPTIONS)
BENCH_NEEDS = setup $(BENCH_VENV)/.with-torch $(VERIFIERS_VENV)/.made $(BEFORE)/.made
# Version 0.1, taken out of the history of this repository, to measure against.
BEFORE := build/0.1
BEFORE_COMMIT := 1c6419f2730dfd57194ac57a6bf90c4dcfbe5026
BEFORE_PY := $(BEFORE)/venv/bin/python
WORKERS ?= auto
PYTEST := $(PY) -m pytest -n $(WORKERS)

# The folder in which the core is built for development, and how one with other options is made beside it.
CMAKE = $(shell command -v cmake || echo $(VENV)/bin/cmake)
NATIVE_BUILD = $(firstword $(wildcard build/cp*))
CONFIGURE_ANY = $(CMAKE) -G Ninja -DCMAKE_MAKE_PROGRAM=$(shell command -v ninja || echo $(CURDIR)/$(VENV)/bin/ninja) \
	-DPython_EXECUTABLE=$(CURDIR)/$(PY) -Dnanobind_DIR=$$($(PY) -m nanobind --cmake_dir) --log-level=ERROR
CONFIGURE = $(CONFIGURE_ANY) -S . -DPOLYFOLD_INSTRUCTIONS=this-machine
# Takes the core from the folder POLYFOLD_CORE.
OTHER_CORE = PYTHONPATH=$(CURDIR)/tools/other_core
HAS_DOCTEST = echo '\#include <doctest/doctest.h>' | c++ -x c++ -E - >/dev/null 2>&1

.PHONY: help setup run browser doctest test test-all test-one test-native test-instructions sanitize coverage hooks test-relucent paper-001 paper-003 movies check bench bench-quick bench-history limits callgrind callgrind-check docs clean FORCE

help:
	@echo 'make setup     everything for development, into .venv'
	@echo 'make run       unfold the bundled Iris network, write its atlas and a report to out/iris'
	@echo 'make test      the checks and all quick tests'
	@echo 'make test-all  the checks and all tests'
	@echo 'make test-one T=tests/exact    the tests of a folder or file, or by name: T="-k diameter"'
	@echo 'make test-native      the tests of the compiled core, in C++'
	@echo 'make sanitize         the core with AddressSanitizer and UBSan, its tests and those of engine, exact, atlas (SANITIZER=thread: TSan)'
	@echo 'make test-instructions    the core for any processor: its tests, and the same cells as those of the core in use'
	@echo 'make coverage         lines and branches that the tests run, of Python and of the core (COVER=tests/exact: of some tests)'
	@echo 'make hooks            run the checks at every commit, by pre-commit'
	@echo 'make test-relucent    cells, facets and calls beside relucent, in an environment of its own'
	@echo 'make paper-001        run the experiments of paper 001 on MNIST in DATA, or on small digits; goes on where it stopped'
	@echo 'make paper-003        run the experiments of paper 003, draw docs/images (minutes)'
	@echo 'make movies    train on the problems of paper 001, write movies and players to out/movies (minutes)'
	@echo 'make check     ruff, mypy --strict, clang-format, import layers, docstrings'
	@echo 'make bench     measure polyfold and its peers, write docs/benchmarks.md (about 45 minutes)'
	@echo 'make bench-quick      the same with small limits, into out/benchmarks.md'
	@echo 'make bench-history    a few timings, kept in benchmarks/history and compared with the last ones'
	@echo 'make limits    how long every question goes on beyond its limit and beyond Ctrl-C'
	@echo 'make callgrind        count instructions per cell, write docs/instruction_counts.md'
	@echo 'make callgrind-check  count them and fail where they rose'
	@echo 'make docs      renew generated parts, run every example, build the site into out/site'
	@echo 'make clean     remove everything that was made here'

setup: $(VENV)/.dev $(VENV)/.native

run: $(VENV)/.core $(VENV)/.native
	@$(VENV)/bin/polyfold unfold iris --box 0 8 --out out/iris
	@$(VENV)/bin/polyfold report iris --box 0 8 --out out/iris/report.html

# The explorer's tests need a browser: Debian's package, where it can be installed. Without one they say that they skip.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
		echo 'NO BROWSER: tests of the explorer skip; install chromium' >&2

# The same for the header that tests of the core need.
doctest:
	@$(HAS_DOCTEST) || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends doctest-dev >/dev/null; } || \
		echo 'NO DOCTEST: tests of the compiled core skip; install doctest-dev' >&2

test: check browser test-native
	@$(PYTEST) -m 'not slow'

T ?= tests
test-one: setup
	@$(PY) -m pytest -q $(T)

# Compiled beside the core that is there already: only the tests themselves are compiled here.
test-native: setup doctest
	@if $(HAS_DOCTEST); then \
		$(CMAKE) -DPOLYFOLD_TESTS=ON --log-level=ERROR $(NATIVE_BUILD) >/dev/null && \
		$(CMAKE) --build $(NATIVE_BUILD) --target native_tests >/dev/null && \
		$(NATIVE_BUILD)/native_tests; fi

# SANITIZER=thread looks for races instead. Python itself is not instrumented: the sanitizer is loaded before it, and
# leaks of the interpreter are not looked for. The addresses that ThreadSanitizer wants need a layout that is not random.
SANITIZER ?= address
SANITIZED ?= tests/engine tests/exact tests/atlas
SANITIZER_BUILD = build/sanitize-$(SANITIZER)
SANITIZER_LIBRARY = $(if $(filter thread,$(SANITIZER)),libtsan.so,libasan.so)
sanitize: setup doctest
	@$(CONFIGURE) -B $(SANITIZER_BUILD) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPOLYFOLD_SANITIZE=$(SANITIZER) \
		-DPOLYFOLD_TESTS=$$($(HAS_DOCTEST) && echo ON || echo OFF) >/dev/null
	@$(CMAKE) --build $(SANITIZER_BUILD) --target core $$($(HAS_DOCTEST) && echo native_tests) >/dev/null
	@if $(HAS_DOCTEST); then setarch -R $(SANITIZER_BUILD)/native_tests; fi
	@$(OTHER_CORE) POLYFOLD_CORE=$(SANITIZER_BUILD) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1 \
		LD_PRELOAD="$$(c++ -print-file-name=$(SANITIZER_LIBRARY)) $$(c++ -print-file-name=libstdc++.so)" \
		setarch -R $(PYTEST) -m 'not slow' -p no:cacheprovider $(SANITIZED)

# The core without the instructions of newer processors, which a wheel has for older ones: its tests and those of engine
# and exact, and whether it finds the same cells as the core that is in use.
PLAIN_BUILD = build/plain
test-instructions: setup doctest
	@$(CONFIGURE) -B $(PLAIN_BUILD) -DPOLYFOLD_INSTRUCTIONS=plain \
		-DPOLYFOLD_TESTS=$$($(HAS_DOCTEST) && echo ON || echo OFF) >/dev/null
	@$(CMAKE) --build $(PLAIN_BUILD) --target core $$($(HAS_DOCTEST) && echo native_tests) >/dev/null
	@if $(HAS_DOCTEST); then $(PLAIN_BUILD)/native_tests; fi
	@$(OTHER_CORE) POLYFOLD_CORE=$(PLAIN_BUILD) POLYFOLD_INSTRUCTIONS=plain \
		$(PYTEST) -m 'not slow' -p no:cacheprovider tests/engine tests/exact
	@POLYFOLD_OTHER_CORE=$(PLAIN_BUILD) $(PYTEST) tests/_core

# Of all quick tests, with the floors of pyproject.toml; of some, without.
COVER ?= tests
coverage: setup doctest
	@$(CONFIGURE) -B build/coverage -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPOLYFOLD_COVERAGE=ON \
		-DPOLYFOLD_TESTS=$$($(HAS_DOCTEST) && echo ON || echo OFF) >/dev/null
	@$(CMAKE) --build build/coverage --target core $$($(HAS_DOCTEST) && echo native_tests) >/dev/null
	@find build/coverage -name '*.gcda' -delete
	@if $(HAS_DOCTEST); then build/coverage/native_tests; fi
	@$(OTHER_CORE) POLYFOLD_CORE=build/coverage $(PYTEST) -m 'not slow' --cov --cov-report=html:out/coverage \
		--cov-report=term:skip-covered $(if $(filter tests,$(COVER)),,--cov-fail-under=0) $(COVER)
	@$(PY) tools/core_coverage.py build/coverage $(if $(filter tests,$(COVER)),--floor)

hooks: setup
	@$(PY) $(PIP_INSTALL) pre-commit
	@$(PY) -m pre_commit install

test-all: check browser test-native test-instructions
	@test -e $(BENCH_VENV)/.with-torch || echo 'NOT COMPARED WITH RELUCENT: make test-relucent makes its environment' >&2
	@HYPOTHESIS_PROFILE=explore $(PYTEST)

test-relucent: setup $(BENCH_VENV)/.with-torch
	@$(PYTEST) tests/benchmarks/test_relucent.py

# An hour or two on MNIST; two minutes on scikit-learn's digits, if DATA is no folder. Figures 4 and 11, the claim of
# section 4, then sections 3.4 and 5 with figures 6 and 12.
DATA ?= ../shared/data/mnist
paper-001: setup
	@mkdir -p out/paper_001/figures
	@$(PY) -m studies.xor_duals --figure out/paper_001/figures/duals.svg --transfer-figure out/paper_001/figures/transfers.svg
	@$(PY) -m studies.closed_regions
	@$(PY) -m studies.locally_linear $(if $(wildcard $(DATA)),--data $(DATA)) --figures out/paper_001/figures

paper-003: setup
	@$(PY) -m studies.diameters --figure docs/images/diameters.svg
	@$(PY) -m studies.face_counts --figure docs/images/face_counts.svg \
		--training-figure docs/images/face_counts_training.svg

movies: setup
	@$(PY) examples/training_movies.py --out out/movies

check: setup
	@$(PY) -m ruff check $(SOURCES)
	@$(PY) -m ruff format --check --quiet $(SOURCES) || \
		{ echo "run: $(PY) -m ruff format $(SOURCES)"; exit 1; }
	@$(PY) -m mypy --strict
	@$(if $(NATIVE_CODE),$(VENV)/bin/clang-format --dry-run --Werror $(NATIVE_CODE))
	@$(PY) tools/check_layers.py
	@$(PY) tools/check_docstrings.py

bench: $(BENCH_NEEDS)
	@$(BENCH) --write docs/benchmarks.md

bench-quick: $(BENCH_NEEDS)
	@$(BENCH) --quick --write out/benchmarks.md

# Say HISTORY_FAIL=min:10% to fail where a call takes this much longer than in the last run that was kept.
HISTORY_FAIL ?=
HISTORY := benchmarks/history
HISTORY_LAST := $(wildcard $(HISTORY)/runs/*/*.json)
HISTORY_COMPARE := $(if $(HISTORY_FAIL),--benchmark-compare-fail=$(HISTORY_FAIL)) --benchmark-compare

bench-history: setup
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -c $(HISTORY)/pytest.ini $(HISTORY) --benchmark-storage=file://$(HISTORY)/runs \
		--benchmark-autosave $(if $(HISTORY_LAST),$(HISTORY_COMPARE))

# Every question with a limit and interrupted, about 15 minutes on a quiet machine.
limits: setup
	@$(PY) tools/measure_limits.py

# Some regimes only: CALLGRIND_OPTIONS='--only ACAS 2,500'.
CALLGRIND_OPTIONS ?=
callgrind: setup $(BEFORE)/.made
	@$(PY) benchmarks/instructions.py --write --before $(BEFORE_PY) $(CALLGRIND_OPTIONS)

callgrind-check: setup
	@$(PY) benchmarks/instructions.py --check $(CALLGRIND_OPTIONS)

docs: setup
	@$(PY) tools/draw_atlas.py
	@$(PY) -m studies.iris_cells --figure docs/images/iris_cells.svg > /dev/null
	@$(PY) -m studies.xor_duals --figure docs/images/xor_duals.svg --transfer-figure docs/images/xor_transfers.svg > /dev/null
	@$(PY) tools/write_networks_page.py
	@$(PY) tools/gallery.py > /dev/null
	@$(PY) -m pytest -q tests/docs
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet --strict
	@$(PY) tools/gallery.py --interactive out/site/gallery

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(VERIFIERS_VENV) build dist out src/polyfold/_core/_native.pyi
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# -- how it is set up ------------------------------------------------------------------------------------------

$(VENV)/.made: $(call unless_healthy,$(VENV))
	@test -n '$(PYTHON)' || { echo 'polyfold needs Python 3.11 or newer with its venv module' >&2; exit 1; }
	@if [ -z '$(call healthy,$(VENV))' ]; then echo 'making $(VENV)'; rm -rf $(VENV); $(PYTHON) -m venv $(VENV); fi
	@touch $@

# What a run needs: the build tools, the dependencies, and Parquet storage.
$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt tools/requirements.py
	@echo 'installing dependencies'
	@$(PY) $(PIP_INSTALL) 'scikit-build-core>=0.10' 'nanobind>=2.4' 'ninja>=1.11'
	@command -v cmake >/dev/null || $(PY) $(PIP_INSTALL) cmake
	@$(PY) tools/requirements.py store > $(VENV)/requirements.txt
	@$(PY) $(PIP_INSTALL) -r $(VENV)/requirements.txt
	@touch $@

# What development needs on top. Large networks for tests come from pytorchcv; what it asks for beyond torch it needs
# only to download weights, which no test does.
$(VENV)/.dev: $(VENV)/.core
	@echo 'installing development dependencies'
	@$(PY) tools/requirements.py dev > $(VENV)/requirements.txt
	@$(PY) $(PIP_INSTALL) -r $(VENV)/requirements.txt
	@$(PY) $(PIP_INSTALL) --no-deps pytorchcv
	@touch $@

# The compiled core, built in build/ and so again only as far as it changed. The stub is copied next to the
# sources because mypy reads those.
$(VENV)/.native: $(VENV)/.core $(NATIVE)
	@echo 'building the compiled core'
	@$(PY) $(PIP_INSTALL) --no-build-isolation --no-deps --config-settings=cmake.define.POLYFOLD_INSTRUCTIONS=this-machine --editable .
	@stub=$$(find $(VENV)/lib -path '*/polyfold/_core/_native.pyi' | head -n 1); \
		if [ -n "$$stub" ]; then cp "$$stub" src/polyfold/_core/_native.pyi; fi
	@touch $@

# Its sources with their core, and a Python that finds them before what is installed in $(VENV).
$(BEFORE)/.made: $(call unless_healthy,$(BEFORE)/venv) | $(VENV)/.core
	@echo 'building version 0.1 in $(BEFORE)'
	@rm -rf $(BEFORE)
	@mkdir -p $(BEFORE)/source
	@git archive $(BEFORE_COMMIT) | tar x -C $(BEFORE)/source
	@$(CONFIGURE_ANY) -S $(BEFORE)/source -B $(BEFORE)/core >/dev/null
	@$(CMAKE) --build $(BEFORE)/core --target _native >/dev/null
	@cp $(BEFORE)/core/_native.*.so $(BEFORE)/source/src/polyfold/core/
	@$(PY) -m venv --without-pip $(BEFORE)/venv
	@site='import sysconfig; print(sysconfig.get_path("purelib"))'; \
		printf '%s\n' '$(CURDIR)/$(BEFORE)/source/src' "$$($(PY) -c "$$site")" \
		> "$$($(BEFORE_PY) -c "$$site")/before.pth"
	@$(BEFORE_PY) -c 'from polyfold import core'
	@touch $@

# relucent is under a copyleft licence: it lives in an environment of its own and is only ever run as a program.
$(BENCH_VENV)/.with-torch: constraints.txt $(call unless_healthy,$(BENCH_VENV)) | $(VENV)/.made
	@echo 'making $(BENCH_VENV)'
	@rm -rf $(BENCH_VENV)
	@$(PYTHON) -m venv $(BENCH_VENV)
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) 'relucent[torch]==1.0.0'
	@$(BENCH_VENV)/bin/python -c 'import relucent, gurobipy, torch'
	@touch $@

# Verifiers and CGAL, some of them under copyleft licences: only ever run as programs.
$(VERIFIERS_VENV)/.made: constraints.txt $(call unless_healthy,$(VERIFIERS_VENV)) | $(VENV)/.made
	@echo 'making $(VERIFIERS_VENV)'
	@rm -rf $(VERIFIERS_VENV)
	@$(PYTHON) -m venv $(VERIFIERS_VENV)
	@$(VERIFIERS_VENV)/bin/python $(PIP_INSTALL) vibecheck-nn==1.1.0 maraboupy==2.0.0 cgal==6.0.1.post202410241521
	@$(VERIFIERS_VENV)/bin/python -W ignore -c 'import vibecheck, CGAL; from maraboupy import Marabou'
	@touch $@
