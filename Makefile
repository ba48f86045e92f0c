# Two commands on a fresh machine: `make demo` and `make test`. Only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Models for tests and the demo are kept outside the checkout, so that a fresh clone does not fetch them again.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/repertory
export REPERTORY_TEST_MODELS ?= $(CACHE)/models
export NO_MKDOCS_2_WARNING := 1
# Many tests wait for a process or a time limit, so there are more of them at a time than cores.
WORKERS ?= $(shell echo $$(( 2 * $$(nproc 2>/dev/null || echo 2) )))
export REPERTORY_TEST_VLLM ?= $(CACHE)/vllm
export REPERTORY_TEST_HARNESSES ?= $(CACHE)/harnesses
export REPERTORY_TEST_FRONT_END ?= $(CACHE)/front-end

.PHONY: help setup web demo test lint format typecheck bench docs docs-check lock vllm harnesses front-end clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(READY)  ## Create .venv with the `repertory` command and all development tools, and build the dashboard
	@$(BIN)/python web/build_hook.py || echo "The dashboard is not built; everything else works. Try again: make web"
	@echo "Ready: $(BIN)/repertory --help"

web: $(READY)  ## Build the dashboard (Node from a wheel where none is installed)
	@$(BIN)/python web/build_hook.py

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (about a minute the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  ## Two short coaching sessions with a real model on this machine
	@$(BIN)/repertory demo

test: test-fast test-web test-engines  ## All tests: with real engines, and in a browser where there is Chromium

.PHONY: test-fast test-web test-engines
test-fast: $(READY)  ## The tests without an engine, as many at a time as there are cores
	@$(BIN)/python -m pytest -m "not engine and not vllm and not browser" --numprocesses $(WORKERS)

test-web: web  ## The dashboard's components, and its pages in Chromium
	@$(BIN)/python web/build_hook.py run --silent lint
	@$(BIN)/python web/build_hook.py run --silent test
	@$(BIN)/python -m pytest -m "browser and not engine"

test-engines: web test-models  ## The tests with real engines, one at a time
	@$(BIN)/python -m pytest -m "(engine or vllm) and not browser"
	@$(BIN)/python -m pytest -m "browser and engine"  # Playwright does not share a process with asyncio's tests

.PHONY: test-models
test-models: $(READY)
	@REPERTORY_MODELS=$(REPERTORY_TEST_MODELS) $(BIN)/repertory models pull qwen2.5-coder-0.5b smollm2-135m

format: $(READY)  ## Format the code
	@$(BIN)/ruff format src tests benchmarks && $(BIN)/ruff check --fix --quiet src tests benchmarks

lint: $(READY)  ## Format check, lint, import layers
	@$(BIN)/ruff format --check src tests benchmarks
	@$(BIN)/ruff check src tests benchmarks
	@$(BIN)/lint-imports

typecheck: $(READY)  ## Strict type checking of src, tests and benchmarks
	@$(BIN)/basedpyright

bench: $(READY)  ## The benchmarks that need no GPU; results go to benchmarks/results
	@$(BIN)/python -m benchmarks

docs: $(READY)  ## Generate the reference from code, check it and build the site
	@$(BIN)/python -m docs.generate && $(BIN)/mkdocs build --strict --quiet

docs-check: $(READY)
	@$(BIN)/python -m docs.generate --check && $(BIN)/mkdocs build --strict --quiet

lock: $(READY)  ## Resolve requirements.lock again from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --extra plan --extra postgres \
	  --extra otel --group dev --generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements.lock

vllm: $(READY)  ## An environment with vLLM's CPU build and a small model for it (3.5 GB, cached)
	@$(BIN)/python -m tests.vllm_environment $(REPERTORY_TEST_VLLM)

harnesses: $(READY)  ## Claude Code, OpenCode and Qwen Code for the tests of harnesses (npm, 640 MB, cached)
	@$(BIN)/python web/build_hook.py install --silent --no-audit --no-fund --prefix $(REPERTORY_TEST_HARNESSES) \
	  @anthropic-ai/claude-code@2.1.197 opencode-ai@1.18.33 @qwen-code/qwen-code@0.15.10

front-end: $(READY)  ## Gradio's chat page for the tests of clients (84 MB download, 400 MB, cached)
	@$(BIN)/python -m tests.front_end_environment $(REPERTORY_TEST_FRONT_END)

clean:  ## Remove the environment and caches of this checkout
	@rm -rf $(VENV) .cache site dist .pytest_cache .ruff_cache .hypothesis
