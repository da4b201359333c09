# make reproduce    set up, then everything from nothing to the figures at the default scale
# make test         set up, then lint, types and all tests
# make smoke        the whole pipeline at the smallest scale
# make comparison   every variant with three seeds at equal budgets, within an hour (SIZE=-smoke, SIZE=-full: other sizes;
#                   COMPARISON=settings: the default's settings one by one)
# make compare      set a finished run beside the committed reference
# make reference    make a finished run the committed reference (reference-comparison: a finished comparison)
# make lint         lint and types alone
# make bench        speed of self-play beside the raw speed of the network
# make clean        remove the environment and caches; results stay
#
# SCALE=smoke|laptop|paper chooses config/<scale>.yaml; SEED=1 another seed (in results/<scale>-seed1); PYTHON=... the
# interpreter; CORES=... how many cores to use.

SHELL := bash

SCALE ?= laptop
RUN := $(SCALE)$(SEED:%=-seed%)
COMPARISON ?= comparison
CORES ?= all
TEST_PROCESSES ?= 2

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help reproduce comparison smoke test lint compare reference reference-comparison bench clean

help:
	@sed -n 's/^# \{0,1\}//; 1,13p' Makefile

# pip's own settings are respected: on Linux the usual torch is the large CUDA build, which runs without a GPU too; who has
# a source of the smaller CPU build may name it, for instance in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS.
$(INSTALLED): pyproject.toml workflow/constraints.txt
	@found=; for candidate in $(PYTHON) python3.11 python3 python; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        found="$$candidate"; break; fi; \
	    if [ -n "$(PYTHON)" ]; then break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "make: Python: $(or $(PYTHON),python3.11 or python3): expected 3.11 or newer, found none; set PYTHON=" >&2; \
	    exit 2; fi; \
	echo "Installing into $(VENV) with $$("$$found" --version) (once; minutes on a slow connection)"; \
	"$$found" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c workflow/constraints.txt -e '.[test]'
	@touch $@

# A run that was killed leaves Snakemake's lock behind. Ours, on file 9, is let go by the system when its last holder dies,
# whatever the cause; so whoever holds it may remove the other. Each job says one line of its own; of Snakemake's, those that
# only count jobs are left out. (The filter outlives an interrupt, so that Snakemake can finish what it has to say.)
reproduce: CONFIG = config/$(SCALE).yaml $(if $(SEED),results/.$(RUN).yaml)
reproduce: COST = $(BIN)/probzero cost --run results/$(RUN) --wall $$SECONDS --cores $$cores --output results/$(RUN)/cost.csv \
    || echo "(So what the workflow cost is not measured; the run itself is complete.)"
comparison: CONFIG = $(if $(SEED),$(error SEED: expected none with a comparison, whose file names its seeds, found $(SEED)))config/$(COMPARISON).yaml $(SIZE:%=config/$(COMPARISON)%.yaml)
reproduce comparison: $(INSTALLED)
	@set -euo pipefail; mkdir -p results; exec 9>results/.lock; \
	$(BIN)/python -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2>/dev/null || { \
	    echo "make: results/: another run is writing there" >&2; exit 2; }; \
	rm -rf .snakemake/locks; \
	if [ -n "$(SEED)" ]; then printf 'name: %s\nseeds: [%s]\n' "$(RUN)" "$(SEED)" > "results/.$(RUN).yaml"; fi; \
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) --rerun-incomplete --scheduler greedy \
	    --quiet host progress reason rules 2>&1 \
	| (trap "" INT; grep --line-buffered -Ev '^(Assuming |Building DAG|Using shell|Conda env|Select jobs|Execute [0-9])' || true); \
	cores=$(CORES); if [ "$$cores" = all ]; then cores=$$($(BIN)/python -c 'import os; print(os.cpu_count())'); fi; \
	$(COST)

smoke:
	@$(MAKE) --no-print-directory reproduce SCALE=smoke

lint: $(INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: lint
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile

compare: $(INSTALLED)
	@$(BIN)/probzero compare --run results/$(RUN) --reference results/reference/$(RUN)

# What reviewers need of a finished run; self-play data, logs and the other checkpoints are left behind.
reference:
	@set -euo pipefail; target=$$PWD/results/reference/$(RUN); cd results/$(RUN); rm -rf "$$target"; mkdir -p "$$target"; \
	for seed in seed*; do \
	    last=$$(ls $$seed/training | sed 's/.json//' | tail -n 1); \
	    cp --parents -r config.json paper.pdf $$seed/tables $$seed/figures $$seed/matches $$seed/truth \
	        $$seed/checkpoints/$$last.safetensors $$seed/checkpoints/ceiling.safetensors "$$target"; \
	done; if [ -e cost.csv ]; then cp cost.csv cost.md "$$target"; fi; du -sh "$$target"

# The same of a finished comparison; games and checkpoints are left behind.
reference-comparison:
	@set -euo pipefail; target=$$PWD/results/reference/$(COMPARISON); cd results/$(COMPARISON); rm -rf "$$target"; mkdir -p "$$target"; \
	cp --parents -r config.json positions.csv tables figures seed*/tables */seed*/points.csv "$$target"; du -sh "$$target"

bench: $(INSTALLED)
	@$(BIN)/probzero bench --config config/laptop.yaml config/paper.yaml --output results/bench/selfplay.csv \
	    --parts results/bench/parts.csv

clean:
	rm -rf $(VENV) .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
	find src kernels tests -name __pycache__ -type d -prune -exec rm -rf {} +
