# Every target sets up what it needs in .venv; a Python of at least 3.11, make and a package index are enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Tests that take long or need weights, torch, a browser or PostgreSQL; .ci/run runs them too.
HEAVY := slow or models or torch or browser or postgres or frameworks

DOCS := build/docs

.PHONY: docs help demo test lint types format heavy bench torture lock setup clean

help:
	@echo "make demo    a small story: remember, recall, explain"
	@echo "make test    lint, types and tests"
	@echo "make bench   recall beside other engines, 10,000 memories"
	@echo "make docs    the documentation as a site in $(DOCS)"
	@echo "make lint, make types, make format, make heavy, make torture, make lock, make setup, make clean"

demo: $(VENV)/.installed
	@$(BIN)/thinkback demo

test: lint types
	$(BIN)/python -m pytest -n auto -m "not ($(HEAVY))"

heavy: setup
	$(BIN)/python -m pytest -n auto -m "$(HEAVY)"

bench: setup
	$(BIN)/python benchmarks/peers.py

torture: setup
	$(BIN)/python tests/torture

docs: $(VENV)/.installed-docs
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs $(DOCS)
	@echo "the site is in $(DOCS)/index.html"

# The package index may be any; the lock names none.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet

lock:
	$(LOCK) pyproject.toml --extra dev --output-file requirements/dev.txt
	$(LOCK) requirements/release.in --output-file requirements/release.txt

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Thinkback needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON)" >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing Thinkback" >&2
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing Thinkback and what its tests need" >&2
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing Thinkback and what its site is made with" >&2
	@$(PIP) --editable '.[docs,serve]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
