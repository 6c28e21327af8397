# make demo | test | test-changed | test-all | test-long | test-spark | test-clients | test-pure | test-lowest | lint | docs | bench | clean; PYTHON= chooses the interpreter,
# VENV= where the environment lies.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# sqlglot without its compiled build needs an environment of its own.
PURE := $(VENV)-pure
# So do the oldest versions of what the project needs.
LOWEST := $(VENV)-lowest
# And other programs, of which some look what else is installed.
CLIENTS := $(VENV)-clients
PIP    := $(BIN)/python -m pip install --disable-pip-version-check --quiet --editable

# Tests of small databases are bound by one core each; more than four workers only warm up longer. What the tests of
# a file share is made once where one worker has the whole file, so each gets its tests in a row.
WORKERS ?= auto
PYTEST = -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --dist worksteal
PYTEST_ARGS ?=
# Without bytecode each worker would compile all test files, 9 s of processor time, and each process that a test
# starts the package.
unexport PYTHONDONTWRITEBYTECODE
SHARE ?= 1/1
# Empty for the commit where the branch left main.
SINCE ?=
comma := ,
# What the oldest versions are asked: the SQL of every method and statement (golden) and of other warehouses (compile),
# and where frames, Arrow arrays, NumPy, colours, keys and options are met.
LOWEST_TESTS := tests/golden $(addprefix tests/unit/test_,$(addsuffix .py,anonymize cli compile data_frames gate losses masks \
  presentation pseudonym session shell temp_tables)) tests/packaging/test_extras.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-changed test-all test-long test-spark test-clients test-pure test-lowest lint docs bench clean

help:
	@echo 'make demo        install into $(VENV) and anonymize the UCI Adult census extract'
	@echo 'make test        run the tests (PYTEST_ARGS=... is passed on)'
	@echo 'make test-changed  run those of what differs from main; SINCE=commit names another commit'
	@echo 'make test-all    run all tests there are, in every environment: hours'
	@echo 'make test-long   run those that take long, and draw more inputs of the others; SHARE=1/15 for a fifteenth of them'
	@echo 'make test-spark  ask the same of Spark, which needs Java (17 or newer)'
	@echo 'make test-clients  run what the documentation shows of notebooks, dbt, jupysql, Ibis and polars, in $(CLIENTS)'
	@echo 'make test-pure   run the tests with the pure build of sqlglot, in $(PURE)'
	@echo 'make test-lowest run some tests with the lowest versions of what sqlanon needs, in $(LOWEST)'
	@echo 'make lint        check style, types and the direction of imports'
	@echo 'make docs        build the docs site in site/, and check its links'
	@echo 'make bench       measure against plain SQL'
	@echo 'make clean       remove $(VENV), $(PURE), $(LOWEST), $(CLIENTS) and caches'

demo: $(VENV)/.installed-base
	@$(BIN)/sqlanon demo

test: $(VENV)/.installed-test
	@$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

test-changed: $(VENV)/.installed-test
	@$(BIN)/python tools/changed_tests.py --since=$(SINCE) -- $(PYTEST) $(PYTEST_ARGS)

# Each kind of evidence once, one after the other.
test-all:
	@$(MAKE) --no-print-directory test PYTEST_ARGS="--part=all $(PYTEST_ARGS)"
	@$(MAKE) --no-print-directory test-pure
	@$(MAKE) --no-print-directory test-spark PYTEST_ARGS="--part=all $(PYTEST_ARGS)"
	@$(MAKE) --no-print-directory test-clients PYTEST_ARGS="--part=all $(PYTEST_ARGS)"
	@$(MAKE) --no-print-directory test-lowest

test-long: $(VENV)/.installed-test
	@$(BIN)/python $(PYTEST) --part=long --share=$(SHARE) $(PYTEST_ARGS)

# One Spark session answers all of them, so there is one worker.
test-spark: $(VENV)/.installed-test-spark
	@$(BIN)/python -m pytest -m spark tests/spark $(PYTEST_ARGS)

test-clients:
	@$(MAKE) --no-print-directory VENV=$(CLIENTS) $(CLIENTS)/.installed-test-clients
	@$(CLIENTS)/bin/python -m pytest tests/clients $(PYTEST_ARGS)

test-pure:
	@$(MAKE) --no-print-directory VENV=$(PURE) $(PURE)/.pure
	@$(PURE)/bin/python $(PYTEST) --pure $(PYTEST_ARGS)

test-lowest:
	@PIP_CONSTRAINT=tests/lowest.txt $(MAKE) --no-print-directory VENV=$(LOWEST) $(LOWEST)/.installed-test
	@$(LOWEST)/bin/python $(PYTEST) --lowest $(or $(PYTEST_ARGS),$(LOWEST_TESTS))

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/import_diagram.py --check docs/maintainers/architecture.md
	$(BIN)/python -m tools.grammar --check
	$(BIN)/python -m tools.typed_classes --check
	$(BIN)/python -m tools.method_lists --check
	$(BIN)/python -m tools.certificate_schema --check
	$(BIN)/python -m tools.prose

# Strict: a link or an anchor that leads nowhere, and a page that is in no menu, end it. With --quiet none of them would.
# So does a word of a newcomer that the built search does not lead to its page.
docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@$(BIN)/python -m tools.site_search site
	@echo 'The docs site is in site/; open site/index.html, or serve it so that its search works:'
	@echo '  $(BIN)/python -m http.server --directory site'

bench: $(VENV)/.installed-base
	@$(BIN)/python -m benchmarks

clean:
	[ ! -e $(VENV)/.created ] || rm -rf $(VENV)
	[ ! -e $(PURE)/.created ] || rm -rf $(PURE)
	[ ! -e $(LOWEST)/.created ] || rm -rf $(LOWEST)
	[ ! -e $(CLIENTS)/.created ] || rm -rf $(CLIENTS)
	rm -rf dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find sqlanon sql udfs tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed is the checkout itself, so only new requirements need a new installation.
$(VENV)/.installed-base: $(VENV)/.created pyproject.toml
	@echo 'Installing sqlanon into $(VENV), once; this takes a minute.' >&2
	@$(PIP) '.[all]'
	@touch $@

# test-spark installs the extras test and spark, test-clients test and clients.
$(VENV)/.installed-%: $(VENV)/.created pyproject.toml
	@echo 'Installing sqlanon and what "make $*" needs into $(VENV), once; this takes a minute.' >&2
	@$(PIP) '.[$(subst -,$(comma),$*)]'
	@touch $@

# The compiled build is a distribution of its own, sqlglotc, which lies beside the pure modules and is imported before
# them. Without it sqlglot imports the pure ones.
$(VENV)/.pure: $(VENV)/.installed-test
	@$(BIN)/python -m pip uninstall --disable-pip-version-check --quiet --yes sqlglotc
	@touch $@

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || \
	  { echo 'There is no $(PYTHON) on this machine: install Python 3.11 or newer, or name one, as in "make demo PYTHON=python3.12".' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sqlanon needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another, as in \"make demo PYTHON=python3.12\"." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@
