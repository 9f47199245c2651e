# Two goals do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo test check format clean

demo: $(READY)
	$(VENV)/bin/clearhead demo

test: check
	$(VENV)/bin/pytest --numprocesses auto --dist worksteal

check: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# Installed once; again only when what is asked for changes.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[dev,oracles]'
	touch $@

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
