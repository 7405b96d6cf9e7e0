# make demo: simulate a chain and leave a report, plots and a replay page in demo/
# make test: the linters, then every test
# Each sets up what it needs in .venv first. Needs Python 3.11 or newer; no compiler.

PYTHON ?= python3
ARGS   ?=
BIN    := .venv/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@sed -n 's/^# //p' Makefile | head -n 3
	@echo "make lint, make bench, make clean; make test ARGS=\"-m 'not slow'\" hands ARGS to pytest."

demo: .venv/.run
	$(BIN)/linkwork run chain --seconds 2 --out demo --overwrite

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: .venv/.bench
	$(BIN)/python -m benchmarks.chains --out benchmarks/results/chains.json $(ARGS)
	$(BIN)/python -m benchmarks.startup --out benchmarks/results/startup.json
	$(BIN)/python -m benchmarks.stiff --out benchmarks/results/stiff.json
	$(BIN)/python -m benchmarks.reduced --out benchmarks/results/reduced.json
	$(BIN)/python -m benchmarks.sparse --out benchmarks/results/sparse.json
	$(BIN)/python -m benchmarks.loops --out benchmarks/results/loops.json
	$(BIN)/python -m benchmarks.nets --out benchmarks/results/nets.json
	$(BIN)/python -m benchmarks.iftomm --out benchmarks/results/iftomm.json
	$(BIN)/python -m benchmarks.geometry --out benchmarks/results/geometry.json
	$(BIN)/python -m benchmarks.contact --out benchmarks/results/contact.json
	$(BIN)/python -m benchmarks.edits --out benchmarks/results/edits.json
	$(BIN)/python -m benchmarks.pictures --out benchmarks/results/pictures.json
	$(BIN)/python -m benchmarks.readme

# A folder that has more than what is asked for serves: .run is what a run needs, .installed the tests too, .bench also peers.
# Modules are compiled to bytecode as they are imported: most never are.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "linkwork needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.run: pyproject.toml | .venv/.made
	@echo "Setting up .venv: what a run needs, 0.9 GB of libraries (casadi, llvmlite, scipy, ...), is fetched and unpacked, once."
	@$(PIP) -e ".[studio]"
	@touch $@

.venv/.installed: pyproject.toml | .venv/.made
	@echo "Setting up .venv for tests: about 2 GB of libraries (vtk, mujoco, ...) is fetched and unpacked: two minutes or more, once."
	@$(PIP) -e ".[dev]"
	@touch .venv/.run $@

.venv/.bench: .venv/.installed
	@echo "Adding the peers that the benchmarks compare with (mujoco, pinocchio, dart), about a minute, once."
	@$(PIP) -e ".[bench]"
	@touch $@

clean:
	rm -rf .venv demo build dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
