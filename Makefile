# Two commands: `make run` shows the library at work, `make test` checks it. Both set up .venv by themselves and
# install nothing outside of it. `make test-slow` is what takes longer: all tests with their coverage measured, those
# that wait for clusters, builds and emulated processors among them, then every processor, the compiled module under
# sanitizers, thousands of changed journals, lives under attack, and new random examples. `make test-wheels` builds the wheels and tests them on every Python that is here.
# `make docs` builds the site.
PYTHON ?= python3
BIN := .venv/bin
# One BLAS thread: the matrices are small, and threads only get in each other's way.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Compiled Python is kept: the tests start hundreds of processes, and each would compile the library again.
unexport PYTHONDONTWRITEBYTECODE

# What the compiled module is made of: a change of it installs again.
BUILD := pyproject.toml setup.py bench/pyproject.toml paper/pyproject.toml $(wildcard native/*)
LINTED := setup.py conftest.py src tests bench paper benchmarks examples integrations docs/make_theory_figures.py docs/make_how_to_choose.py docs/make_architecture.py \
	docs/make_verdicts.py docs/make_gallery.py docs/make_outputs.py docs/make_concepts.py docs/theme

.PHONY: run test test-slow test-wheels docs clean

run: .venv/run.stamp
	$(BIN)/believer demo --out believer-demo

test: .venv/test.stamp
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow' --durations=20

test-slow: .venv/test.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered
	$(BIN)/python tests/processors.py
	$(BIN)/python tests/native/asan.py
	BELIEVER_HOSTILE_JOURNALS=10000 $(BIN)/python -m pytest -n 2 tests/test_hostile_journals.py
	$(BIN)/python tests/lives.py --operations 30000 --kills 300
	$(BIN)/python -m pytest -n 2 --durations=20 -m hypothesis --hypothesis-profile=explore

# The site, into site/: open site/index.html. Every warning is an error, a link that leads nowhere among them.
docs: .venv/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

test-wheels: $(BIN)/python
	$(BIN)/python tests/wheels.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "believer needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv

.venv/run.stamp: $(BIN)/python $(BUILD)
	$(BIN)/python -m pip install --quiet --editable '.[all]' --editable bench --editable paper
	$(BIN)/python -c 'import believer; print("believer computes in:", believer.backend())'
	touch $@

# The tests compare with BoTorch, on this version of torch, whichever build of it the index offers.
.venv/test.stamp: $(BIN)/python $(BUILD)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --editable 'bench[peers]' --editable paper
	touch $@

.venv/docs.stamp: $(BIN)/python $(BUILD)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

# The tests look at reports in a browser, and skip that without one. Only CI, whose machine is its own, installs it: on
# Debian, if that needs no question answered; anything else is left as it is, and a failure is no error.
ifeq ($(CI),true)
test test-slow: .venv/browser.stamp
endif
CHROMIUM := chromium chromium-browser google-chrome google-chrome-stable chrome
APT := env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
	-o DPkg::Lock::Timeout=60 -o Acquire::http::Timeout=30 -o Acquire::Retries=1
.venv/browser.stamp: $(BIN)/python
	@for name in $(CHROMIUM); do command -v $$name >/dev/null 2>&1 && exit 0; done; \
	grep -qs '^ID=debian$$' /etc/os-release && command -v apt-get >/dev/null 2>&1 || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as='sudo -n'; else exit 0; fi; \
	echo 'installing Chromium for the tests'; exec </dev/null >/dev/null 2>&1; \
	install='$(APT) install --no-install-recommends chromium'; \
	$$as $$install || { $$as $(APT) update && $$as $$install; } || true
	touch $@

clean:
	rm -rf .venv build dist site src/*.egg-info bench/src/*.egg-info paper/src/*.egg-info src/believer/_native*.so src/believer/_native*.pyd believer-demo believer-reproduction
