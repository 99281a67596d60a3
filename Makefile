# Two commands do everything, set-up included: `make demo` and `make test`. `make help` lists the others.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PROGRAM := build/release/cli/ecotone
FUZZ_SECONDS ?= 60
export ECOTONE_PROGRAM := $(CURDIR)/$(PROGRAM)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
# Paths inside the tree are relative for ccache, so that a second clone finds what the first one compiled.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Python adds a locale to the environment of the commands it runs, which ccache would take for another compiler.
export CCACHE_SLOPPINESS := locale

.PHONY: help setup-build setup-test setup-check build release demo test unit slow kernels sanitize bench fuzz format check docs wheel install clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup-build:
	@tools/setup build

setup-test:
	@tools/setup build test

setup-check:
	@tools/setup build test check

build: setup-build ## build the program (release)
	@echo "build: the program, release"
	@cmake --preset release -DECOTONE_TESTS=OFF -DECOTONE_PYTHON=OFF --log-level=WARNING >/dev/null
	@cmake --build --preset release

demo: build ## install what is missing, build, run the main job on built-in data, write demo/report.html
	@tools/demo $(PROGRAM) demo

test: setup-test ## install what is missing, build, run all tests
	@rm -f build/closing-lines
	@$(MAKE) --no-print-directory unit slow sanitize
	@echo "test: all passed; closing lines of the runs:"
	@cat build/closing-lines

release: setup-test
	@echo "build: program and tests, release"
	@cmake --preset release -DECOTONE_TESTS=ON -DECOTONE_PYTHON=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release

unit: release ## run the unit tests and the quick tests of the program
	@echo "test: unit"
	@tools/ctest build/release -L unit

slow: release ## run the slow tests
	@echo "test: slow"
	@tools/ctest build/release -L slow

kernels: release ## run the unit tests on kernels for other processors
	@tools/kernels build/release prescott haswell skylakex

sanitize: setup-test ## run the unit tests under the address+undefined and thread sanitizers
	@for preset in asan tsan; do \
	  echo "build: unit tests, $$preset"; \
	  cmake --preset $$preset --log-level=WARNING >/dev/null; \
	  cmake --build --preset $$preset --target unit_tests; \
	  echo "test: unit, $$preset"; \
	  tools/ctest build/$$preset -L unit -LE program; \
	done

bench: ## run the benchmarks side by side with their peers and print the tables of docs/benchmarks.md
	@tools/setup build bench
	@cmake --preset release -DECOTONE_BENCH=ON -DECOTONE_PYTHON=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release
	@bench/run build/release

fuzz: setup-test ## run every fuzz target for FUZZ_SECONDS (60) seconds, from the build for address+undefined
	@cmake --preset asan --log-level=WARNING >/dev/null
	@cmake --build --preset asan --target fuzz_targets
	@tools/fuzz build/asan/fuzz $(FUZZ_SECONDS)

format: setup-check ## format the C++ sources
	@tools/sources | xargs clang-format-14 -i

docs: build ## write the generated reference pages
	@tools/reference $(PROGRAM) --write

check: setup-check release ## check formatting, layers, generated pages and the guide docs/extend.md
	@tools/sources | xargs clang-format-14 --dry-run -Werror && echo "check: formatting is right"
	@python3 tools/check_layers.py
	@tools/reference $(PROGRAM) --check
	@python3 tools/check_guide.py

wheel: setup-test ## make a Python wheel in dist/ that needs none of the build's packages, and try it
	@tools/wheel

install: build ## install into PREFIX (default /usr/local)
	@cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

clean: ## remove everything that was built
	rm -rf build demo dist
