PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# PyTorch's CPU build on a machine without a GPU: see the README
TORCH ?= torch==2.13.0
# test processes: one for each core, each with one torch thread (tests/conftest.py); JOBS=0 is this process alone
JOBS ?= logical

.PHONY: demo example test check bench format docs claims shipped clean

demo: $(VENV)/.installed
	$(BIN)/interp demo

# the committed report; a test compares its visible text with what the shipped suite gives
example: $(VENV)/.installed
	$(BIN)/python -m tests.report.example reports/example/index.html

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(JOBS) --maxprocesses 4 --dist worksteal

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check interp tests docs/*.py analyses
	$(BIN)/ruff check interp tests docs/*.py analyses
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "open build/docs/index.html"

claims: $(VENV)/.installed-dev
	$(BIN)/python docs/claims.py
	$(BIN)/python docs/copy_head_tables.py

shipped: $(VENV)/.installed-dev
	$(BIN)/python docs/shipped.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff format interp tests docs/*.py analyses
	$(BIN)/ruff check --fix interp tests docs/*.py analyses

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
