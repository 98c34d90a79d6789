# The commands of a developer: make build, test, demo, lint, bench, gpu-bundle, clean.
# One environment, .venv, is made on first use. PRESET=dev|release|asan picks a CMake preset.
SHELL := /bin/bash
PRESET ?= dev
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
VENV := .venv
BUILD := build/$(PRESET)
PYTHON_BIN := $(CURDIR)/$(VENV)/bin/python
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONPATH := $(CURDIR)/$(BUILD)/package
export PYTHONDONTWRITEBYTECODE := 1
export SAGE_BUILD_DIR := $(CURDIR)/$(BUILD)

.PHONY: build test ctest pytest asan demo lint format bench gpu-bundle clean help
.NOTPARALLEL:

help:
	@sed -n '1,2s/^# //p' Makefile

# ---- environment: a stamp for each requirements file, newer than the file when installed --------
$(VENV)/stamp-%: requirements/%.txt requirements/build.txt requirements/demo.txt requirements/lint.txt cmake/bootstrap.sh
	@cmake/bootstrap.sh $*
	@touch $@

# ---- build -----------------------------------------------------------------------------------------
$(BUILD)/build.ninja: CMakePresets.json | $(VENV)/stamp-build
	@cmake --preset $(PRESET) -DPython_EXECUTABLE=$(PYTHON_BIN) | grep -E '^-- sage:|[Ee]rror' || true
	@test -f $@

build: $(VENV)/stamp-test $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

# ---- tests: GoogleTest first, then pytest, whose closing line is the last one ------------------
test: ctest pytest

ctest: build
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --progress

pytest: build
	@python -m pytest -q

asan:
	@$(MAKE) --no-print-directory ctest PRESET=asan

# ---- the rest ----------------------------------------------------------------------------------------
demo: $(VENV)/stamp-demo $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target sage_package
	@python -m sage_attention.demo

bench: build
	@python bench/run.py $(or $(BENCH),attention)

CXX_FILES = $(shell find kernels sampling csrc tests examples -name '*.h' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.cu')

lint: $(VENV)/stamp-lint
	@clang-format --dry-run -Werror $(CXX_FILES)
	@ruff check --quiet .
	@ruff format --check --quiet .
	@cmake -DSOURCE=$(CURDIR) -DPACKAGE=$(CURDIR)/build/lint/sage_attention -P cmake/SageStage.cmake
	@cd build/lint && MYPYPATH=. mypy --config-file $(CURDIR)/pyproject.toml -p sage_attention

format: $(VENV)/stamp-lint
	@clang-format -i $(CXX_FILES)
	@ruff check --quiet --fix .
	@ruff format --quiet .

gpu-bundle: build
	@python cmake/gpu_bundle/make_bundle.py $(BUILD) dist/gpu-bundle

clean:
	rm -rf build dist
