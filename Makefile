# Every everyday task in one word; `make` alone lists them.
#   JOBS=n   compile with n jobs instead of what cores and memory allow
#   SETUP=:  leave the installed packages alone (elsewhere than Debian)
#   ARGS=…   extra arguments for ctest (make test) or for scripts/bench (make bench)
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SETUP ?= scripts/setup
# A file that includes LibTorch takes about 1 GB to compile, so memory bounds the jobs too.
ifndef JOBS
JOBS := $(shell awk -v jobs="$$(nproc)" \
  '/^MemAvailable/ {free = $$2 / 1048576} \
   FILENAME ~ /memory.max/ && $$1 != "max" && $$1 / 2^30 < free {free = $$1 / 2^30} \
   END {if (free / 1.2 < jobs) jobs = int(free / 1.2); print (jobs < 1) ? 1 : jobs}' \
  /proc/meminfo $(wildcard /sys/fs/cgroup/memory.max))
endif

.PHONY: help
help: ## List these targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: demo
demo: program ## Generate the Diagonal dataset, cluster it, print the scores and write a report
	@scripts/demo

.PHONY: program
program: ## Build the program alone: build/release/kindred
	@$(SETUP) build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target kindred

.PHONY: build
build: ## Build the program, the tests and the benchmarks into build/release
	@$(SETUP) build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

.PHONY: test
test: ## Build and run every test; the log stays in build/release/Testing
	@$(SETUP) test
	@# The Python package is tested where scripts/setup has made an environment for it.
	cmake --preset release $$([[ ! -x build/venv/bin/python ]] || echo -DKINDRED_BUILD_PYTHON=ON \
	  -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python)
	cmake --build --preset release --parallel $(JOBS)
	@mkdir -p build/release/Testing
	@scripts/build_wheel
	ctest --preset release --no-tests=error --parallel 2 \
	  --output-log build/release/Testing/ctest.log \
	  --output-junit Testing/junit.xml $(ARGS)

.PHONY: wheel
wheel: ## Build a wheel and a source distribution of the Python package into build/dist
	@$(SETUP) test
	build/venv/bin/python -m build --no-isolation --outdir build/dist \
	  -C build-dir=build/wheel -C cmake.define.Python_EXECUTABLE=$(CURDIR)/build/venv/bin/python

.PHONY: bench
bench: build ## Measure Kindred against other programs and the machine: one table of ratios
	@$(SETUP) test
	@scripts/bench $(ARGS)

.PHONY: sanitize
sanitize: ## Run the unit and conformance tests under address and undefined-behaviour sanitizers
	@$(SETUP) test
	cmake --preset asan-ubsan
	cmake --build --preset asan-ubsan --parallel $(JOBS)
	ASAN_OPTIONS=allocator_may_return_null=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitize.supp:print_suppressions=0 \
	  ctest --preset asan-ubsan --no-tests=error --parallel 2 -L '^(unit|conformance)$$' $(ARGS)

.PHONY: format
format: ## Rewrite the C++ files in the house format
	@$(SETUP) lint
	scripts/check_format --mend

.PHONY: lint
lint: ## Check format, house rules and clang-tidy
	@$(SETUP) lint
	@scripts/check_rooms
	@scripts/check_format
	@JOBS=$(JOBS) scripts/check_tidy

.PHONY: clean
clean: ## Remove what make built (build/release, build/asan-ubsan and build/lint)
	rm -rf build/release build/asan-ubsan build/lint
