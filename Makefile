# Each command makes the virtual environment it needs, so that it is one command on a fresh machine.
PYTHON ?= python3
DEMO := $(CURDIR)/.venv/demo
TEST := $(CURDIR)/.venv/test
TYPED := build/typed

.PHONY: demo test lint clean

## demo: evaluate two real models on all tasks and build the leaderboard page
demo: $(DEMO)/made
	$(DEMO)/bin/pip install -q --no-deps --force-reinstall .
	$(DEMO)/bin/harness eval --model all-MiniLM-L6-v2 --model glove-6b-50d \
	    --model bag-of-words:glove-6b-50d --mitigator none --mitigator normalize \
	    --mitigator hard-debias --mitigator context-injection --tasks all --results results/demo
	$(DEMO)/bin/harness leaderboard build results/demo --out site

## test: lint, types, layers and the tests, as CI runs them
test: $(TEST)/made lint
	$(TEST)/bin/pip install -q --no-deps --force-reinstall .
	$(TEST)/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder

## lint: ruff, mypy --strict, and who may import whom
lint: $(TEST)/made
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	rm -rf $(TYPED) && mkdir -p $(TYPED)
	cp -r harness $(TYPED)/ && cp -r plugins tasks leaderboard $(TYPED)/harness/
	cd $(TYPED) && $(TEST)/bin/mypy --config-file $(CURDIR)/pyproject.toml
	cd $(TYPED) && $(TEST)/bin/lint-imports --no-cache --config $(CURDIR)/pyproject.toml

$(DEMO)/made: pyproject.toml constraints.txt
	rm -rf build/lib
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install -q -c constraints.txt ".[models]"
	touch $@

$(TEST)/made: pyproject.toml constraints.txt
	rm -rf build/lib
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/pip install -q -c constraints.txt ".[models,dev]"
	touch $@

clean:
	rm -rf .venv build site results/demo *.egg-info
