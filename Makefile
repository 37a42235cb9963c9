PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# PyTorch's CPU build on a machine without a GPU: see the README
TORCH ?= torch==2.13.0
# test processes: one for each core, each with one torch thread (tests/conftest.py); JOBS=0 is this process alone
JOBS ?= logical

.PHONY: demo test check bench format clean

demo: $(VENV)/.installed
	$(BIN)/interp demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(JOBS) --maxprocesses 4 --dist worksteal

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check interp tests
	$(BIN)/ruff check interp tests
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

format: $(VENV)/.installed-dev
	$(BIN)/ruff format interp tests
	$(BIN)/ruff check --fix interp tests

$(VENV)/.torch:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt $(TORCH)
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf dist build .pytest_cache .ruff_cache .hypothesis
