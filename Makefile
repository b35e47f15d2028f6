# Two commands on a fresh machine: `make demo` and `make test`.  Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# tests wait for processes of their own: three keep two cores busy
WORKERS ?= 3
SETUP := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-system test-oldest test-newest check format docs bench figures studies renders claims clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: $(VENV)/.demo  ## run the main job: SAC without a target network, MLP beside LFF, and its picture
	$(BIN)/python examples/no_target.py --out runs/demo
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then xdg-open runs/demo/no_target.png; fi

test: $(VENV)/.dev  ## run all tests that need Python packages only
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not system"

test-system: $(VENV)/.dev  ## run the tests that need a compiler, a browser or OpenGL
	$(BIN)/python -m pytest -m system tests

# what must hold with every version that pyproject.toml allows: networks, training, compiling, resuming
RANGE := tests/nn tests/algos tests/store tests/training tests/native/test_loop.py tests/system/test_compiled.py \
  tests/cli/test_from_python.py tests/faults/test_resume.py::test_a_compiled_run_resumes_byte_for_byte_too
TOOLS := pytest pytest-xdist hypothesis beartype sybil

test-oldest:  ## run part of the tests with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv $(VENV)-oldest
	$(PYTHON) .ci/lower_bounds.py dmc gym > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install -q -c $(VENV)-oldest/constraints.txt -e '.[dmc,gym]' $(TOOLS)
	$(VENV)-oldest/bin/python -m pytest $(RANGE)

test-newest:  ## run part of the tests with the newest versions that pyproject.toml allows
	$(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install -q --upgrade -e '.[dmc,gym]' $(TOOLS)
	$(VENV)-newest/bin/python -m pytest $(RANGE)

check: $(VENV)/.dev  ## all gates: format, lint, types, import contracts, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

format: $(VENV)/.dev  ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.dev  ## measure the speed of the layer and of training against peers
	$(BIN)/python benchmarks/layer.py
	$(BIN)/python benchmarks/fqi.py
	$(BIN)/python benchmarks/ntk.py
	$(BIN)/python benchmarks/rendering.py
	$(BIN)/python benchmarks/pixel_batches.py
	$(BIN)/python benchmarks/pixel_peers.py
	$(BIN)/python benchmarks/sac_peers.py
	$(BIN)/python benchmarks/ppo_peers.py
	$(BIN)/python benchmarks/sac_update.py
	$(BIN)/python benchmarks/plugin_cost.py
	$(BIN)/python benchmarks/side_by_side.py

figures: $(VENV)/.figures  ## draw the figures of docs/images from the tables in results/; no simulator
	$(BIN)/lff experiment plot --all --out docs/images
	mv docs/images/cheetah-first.png docs/images/cheetah.png
	$(BIN)/lff experiment plot fig5 --across 4 --out docs/images/fig5-wide.png
	for loop in sac ppo laptop; do $(BIN)/python benchmarks/commits.py $$loop --write results/speed; done

STUDIES := fig1 fig2 fig6-first fig8-first fig11 fig11-sac fig13-first fig16 fig16b fig3bc fig4-left new-dynamics cheetah-first drop-in
studies: $(VENV)/.dev  ## run what is missing of the studies: tables to results/, figures, claims; hours
	$(BIN)/lff experiment run $(STUDIES)
	$(MAKE) figures claims

renders: $(VENV)/.dev  ## the images of docs/images that need a simulator and OpenGL
	$(BIN)/python examples/fast_render.py --out docs/images
	$(BIN)/python examples/contact_sheet.py --out docs/images
	$(BIN)/python examples/race.py --out runs/race
	cp runs/race/race.gif docs/images/

claims: $(VENV)/.dev  ## judge all claims by the committed tables again: docs/claims.md, docs/power.md
	$(BIN)/lff experiment verdict --all --markdown > docs/.claims.md
	mv docs/.claims.md docs/claims.md
	$(BIN)/lff experiment power --all --markdown > docs/.power.md
	mv docs/.power.md docs/power.md

clean:  ## remove everything that can be made again
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest docs/_build runs .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lff needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1); use make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.figures: $(VENV)/.python $(SETUP)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[figures]'
	@touch $@

$(VENV)/.demo: $(VENV)/.python $(SETUP)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dmc]'
	@touch $@

$(VENV)/.dev: $(VENV)/.python $(SETUP)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps tianshou
	@touch $@ $(VENV)/.demo $(VENV)/.figures
