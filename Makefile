# make demo: simulate a chain and leave a report, plots and a replay page in demo/
# make test: the linters, then every test
# Both set up .venv first. Needs Python 3.11 or newer; no compiler.

PYTHON ?= python3
ARGS   ?=
BIN    := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# //p' Makefile | head -n 3
	@echo "make lint, make bench, make clean; make test ARGS=\"-m 'not slow'\" hands ARGS to pytest."

demo: .venv/.installed
	$(BIN)/linkwork run chain --seconds 2 --out demo --overwrite

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
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
	$(BIN)/python -m benchmarks.readme

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "linkwork needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up .venv: about 2 GB of libraries is fetched and unpacked (casadi, llvmlite, vtk, ...): two minutes or more, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

.venv/.bench: .venv/.installed
	@echo "Adding the peers that the benchmarks compare with (mujoco, pinocchio, dart), about a minute, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	@touch $@

clean:
	rm -rf .venv demo build dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
