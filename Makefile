# Two commands: `make reproduce` runs the paper's experiment, `make test` checks all that must hold.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: reproduce test coverage mutants chaos benchmark figures picture requirements clean

reproduce: $(INSTALLED)
	$(BIN)/colme reproduce

test: $(INSTALLED)
	$(BIN)/python tests/warm.py & compiling=$$!; \
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports && \
	wait $$compiling
	$(BIN)/pytest -n 4 --dist worksteal

# Which share of the lines of src the tests run, also in the processes they start.  A compiled loop
# runs no lines: it counts where a test runs it as plain Python.
coverage: $(INSTALLED)
	$(BIN)/pytest -n 4 --dist worksteal --cov --cov-report=term

# Small changes to the rules and to what keeps them, and the share of them that no test notices:
# some minutes for each package.
mutants: $(INSTALLED)
	$(BIN)/python tests/mutants/run.py --most 0.1

# Real fleets through the worst that may happen to them: some minutes, and root for some of it.
chaos: $(INSTALLED)
	COLME_CHAOS=full $(BIN)/pytest --log-cli-level=info tests/test_chaos.py tests/chaos/hardest.py

benchmark: $(INSTALLED)
	for script in $(filter-out benchmarks/same_results.py,$(wildcard benchmarks/*.py)); do $(BIN)/python $$script || exit 1; done

# Draws every figure of the documentation again: some ten minutes.
figures: $(INSTALLED)
	$(BIN)/python docs/draw_architecture.py
	$(BIN)/python -c 'from colme.paper import draw_figures; \
		draw_figures("docs/figures", ["error-three-class", "convergence-0.01"])'
	for study in batches drift; do \
		$(BIN)/colme study $$study --out build/studies && \
		cp build/studies/$$study.svg docs/figures/study-$$study.svg || exit 1; done
	$(BIN)/python benchmarks/large.py --figure docs/figures/growth.svg

# Draws the picture of the architecture again, from the imports.
picture: $(INSTALLED)
	$(BIN)/python docs/draw_architecture.py

$(INSTALLED): pyproject.toml requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "colme needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Renews the pinned versions; the file carries no download addresses.
requirements:
	uv pip compile --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
		--upgrade --extra dev pyproject.toml -o requirements.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
