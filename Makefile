# Everything a developer runs, from a fresh clone: `make demo`, `make test`, …  Only make and a Python are needed.
#
# The set-up is part of it. It makes .venv with the first fitting Python and installs the package there, editable, with
# the extras that the target needs. A stamp in .venv for each set of extras, newer than pyproject.toml, makes the next run
# start at once. Runs side by side wait for each other's set-up.

# The Python that .venv is made with, when there is none yet: `make PYTHON=/path/to/python3 test`.
PYTHON ?=
# More words for the program that a target runs: `make test ARGS="-k prompts"`.
ARGS ?=
# How long `make fuzz` tries each target with each engine.
SECONDS ?= 60

BIN := .venv/bin
PYTHONS := $(if $(PYTHON),"$(PYTHON)",python3 python3.14 python3.13 python3.12 python3.11)
LOCKED := $(if $(shell command -v flock 2>/dev/null),flock Makefile)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check long exhaustive every-python lint types coverage bench fuzz recordings docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: .venv/with-cli ## replay a recorded coding session on the command line
	@$(BIN)/acp-client replay examples/recordings/coding-session.ndjson $(ARGS)

test: .venv/with-dev ## run the tests that a developer waits for
	@$(BIN)/python -m pytest -n auto -m "not long and not exhaustive" $(ARGS)

check: lint types docs every-python test ## run every check: style, types, documentation, the wheel on every Python, and last `make test`

long: .venv/with-dev ## run the long tests: interrupts, threads, memory, faults, fuzz, examples, benchmarks
	@$(BIN)/python -m pytest -m "long and not exhaustive" $(ARGS)

exhaustive: .venv/with-dev ## try every order of the enumerated steps, which takes hours
	@$(BIN)/python -m pytest -m exhaustive $(ARGS)

every-python: .venv/with-dev ## build the wheel and test it on every Python from 3.11 that this machine has
	@bash .ci/every-python

lint: .venv/with-dev ## check style and formatting
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

types: .venv/with-dev ## check types with mypy and pyright
	@$(BIN)/python -m mypy $(ARGS)
	@$(BIN)/python -m pyright --warnings --project .

coverage: .venv/with-dev ## run the tests and check their branch coverage
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && trap 'exit 1' HUP INT TERM && export COVERAGE_FILE="$$data/coverage" && \
	$(BIN)/python -m coverage run --parallel-mode -m pytest $(ARGS) && \
	$(BIN)/python -m coverage combine --quiet && \
	$(BIN)/python -m coverage report

bench: .venv/with-bench ## measure speed and memory against their budgets
	@$(BIN)/python -m benchmarks $(ARGS)

fuzz: .venv/with-fuzz ## try random inputs, SECONDS for each target and engine; findings become tests
	@cd tests && ../$(BIN)/python -m fuzz --seconds $(SECONDS) $(ARGS)

docs: .venv/with-docs ## build the documentation; a warning is an error
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs $(ARGS)
	@echo "build/docs/index.html"

recordings: .venv/with-cli ## write the bundled recordings again
	@$(BIN)/python tests/write_recordings.py

clean: ## remove .venv and all caches
	rm -rf .venv .benchmarks .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An editable install knows its place: in a copied or moved tree, or when its Python is gone, set up again.
$(shell [ "$$(cat .venv/place 2>/dev/null)" = "$(CURDIR)" ] && [ -x $(BIN)/python ] || rm -f .venv/with-*)

.venv/with-cli .venv/with-dev .venv/with-bench .venv/with-fuzz .venv/with-docs: pyproject.toml
	@$(LOCKED) sh -euc "$$SETUP" set-up $@ $(patsubst .venv/with-%,%,$@)

# $1 is the stamp, $2 the extra.
define SETUP
fail() { echo "make: $$1" >&2; exit 1; }
if [ "$$1" -nt pyproject.toml ]; then exit 0; fi

recent='import sys; sys.exit(sys.version_info < (3, 11))'
if ! $(BIN)/python -c "$$recent" 2>/dev/null; then
    python= incomplete=
    for name in $(PYTHONS); do
        "$$name" -c "$$recent" 2>/dev/null || continue
        if "$$name" -c 'import ensurepip, venv' 2>/dev/null; then python=$$name; break; fi
        incomplete=$${incomplete:-$$name}
    done
    [ -n "$$python$$incomplete" ] || fail "no Python 3.11 or newer found; name one with: make PYTHON=/path/to/python …"
    [ -n "$$python" ] || fail "$$incomplete cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"
    echo "Making .venv with $$("$$python" -c 'import sys; print(sys.executable, sys.version.split()[0])')"
    "$$python" -m venv --clear .venv
fi
$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null || fail "no pip in .venv: remove .venv"

pip="$(BIN)/python -m pip install -qq --disable-pip-version-check"
if [ .venv/with-cli -nt pyproject.toml ]; then
    # The package is in its place, and another run may be using it: add only what is missing.
    echo "Adding the extra $$2 to .venv"
    $(BIN)/python -c "import tomllib
with open('pyproject.toml', 'rb') as file:
    print(*tomllib.load(file)['project']['optional-dependencies']['$$2'], sep='\n')" | $$pip -r /dev/stdin
else
    echo "Installing the package and its $$2 extra into .venv"
    $$pip --editable ".[cli,$$2]"
fi || fail "the installation failed, see above"
echo "$(CURDIR)" >.venv/place
touch .venv/with-cli "$$1"
endef
export SETUP
