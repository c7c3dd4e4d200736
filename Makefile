PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# What an old processor would compute: BLAS and compiled kernels without its newer instructions.
OLD_PROCESSOR := OPENBLAS_CORETYPE=Sandybridge NUMBA_CPU_NAME=generic \
	NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/old-processor
NUMERICAL := $(addprefix tests/,kernels inference estimation model scores search learners) \
	--ignore=tests/learners/test_sklearn.py
ROUNDS ?= 10

.PHONY: demo test test-browser test-old-processor fuzz check docs pages bench format lists clean

demo: $(VENV)/.base
	@mkdir -p out
	$(BIN)/latentforest datasets
	$(BIN)/latentforest learn coleman-panel --states 1:3 --seed 0 --out out/coleman.json --force
	$(BIN)/latentforest score out/coleman.json coleman-panel
	$(BIN)/latentforest predict out/coleman.json coleman-panel --out out/coleman-classes.csv --force
	$(BIN)/latentforest learn hiv-tests --learner east --seed 0 --out out/hiv-tree.json --force
	$(BIN)/latentforest report out/hiv-tree.json hiv-tests --noun patients --out out/hiv-tree.html --force
	@echo "The class model is in out/coleman.json, the class of every row in out/coleman-classes.csv,"
	@echo "a latent tree of four tests in out/hiv-tree.json, its page in out/hiv-tree.html."

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

# Needs Chromium; pictures of the pages go to out/screenshots.
test-browser: $(VENV)/.test
	$(BIN)/python -m pytest tests/browser

test-old-processor: $(VENV)/.test
	$(OLD_PROCESSOR) $(BIN)/python -m pytest -n 2 $(NUMERICAL)

fuzz: $(VENV)/.test
	for round in $$(seq $(ROUNDS)); do \
		HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n 2 -m hypothesis || exit 1; \
	done

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is in out/site: open out/site/index.html."

pages: $(VENV)/.test
	$(BIN)/python tools/pages.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/latent_class.py
	$(BIN)/python benchmarks/trees.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/east.py
	$(BIN)/python benchmarks/greedy.py
	$(BIN)/python benchmarks/recovery.py
	$(BIN)/python benchmarks/dags.py
	$(BIN)/python benchmarks/comparison.py run
	$(BIN)/python benchmarks/general.py files
	$(BIN)/python benchmarks/bayesian_networks.py
	$(BIN)/python benchmarks/structural_em.py
	$(BIN)/python benchmarks/averaging.py
	$(BIN)/python benchmarks/evidence.py

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lists: $(VENV)/.base
	$(BIN)/python tools/lists.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.base

$(VENV)/.check: $(VENV)/.test
	$(PIP) install -c constraints.txt -e '.[test,check]'
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(PIP) install -c constraints.txt -e '.[test,docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) install -c constraints.txt -e '.[test,bench]'
	@touch $@

clean:
	rm -rf $(VENV) out
