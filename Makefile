# Short targets; each does all that a clean clone needs.
PYTHON ?= python3
VENV   ?= .venv
# for people who need another package index, e.g. PIP_EXTRA="--extra-index-url URL"
PIP_EXTRA ?=
PIP    = $(VENV)/bin/python -m pip install -q --disable-pip-version-check -c constraints-cpu.txt $(PIP_EXTRA)
ARGS  ?=

.PHONY: run test check bench clean

run: $(VENV)/.hf            ## measure the built-in model: the table, and a page under runs/
	$(VENV)/bin/sayso run uncle $(ARGS)

test: $(VENV)/.dev          ## the whole test suite
	$(VENV)/bin/python -m pytest -q -n auto $(ARGS)

check: $(VENV)/.dev         ## style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(VENV)/.dev         ## the studies behind benchmarks/README.md (slow)
	$(VENV)/bin/python benchmarks/run_all.py $(ARGS)

clean:
	rm -rf $(VENV) runs dist .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The package is editable, so only a changed list of dependencies installs again.
$(VENV)/.hf: $(VENV)/bin/python pyproject.toml constraints-cpu.txt
	$(PIP) -e '.[hf]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints-cpu.txt
	$(PIP) -e '.[dev]'
	touch $@
