# make reproduce    set up, then everything from nothing to the figures at the default scale
# make test         set up, then lint, types and the tests that need Python alone (test-all: also slow ones and those that
#                   need system packages)
# make smoke        the whole pipeline at the smallest scale
# make study        every variant with three seeds at equal budgets, within an hour (SIZE=-smoke, SIZE=-full: other sizes;
#                   STUDY=settings: the default's settings one by one)
# make verify       run the smoke scale twice, with other numbers of cores, with and without the evaluation cache, at once
#                   and interrupted, and compare: everything but times has to be the same bytes
# make database     solve every position of the default's game: some minutes, 4 GB of memory, 4 GB of disk
# make verify-results   check every committed file of results/reference by its manifest and checksums
# make check        set a finished run beside the committed reference
# make reference    make a finished run the committed reference (reference-study: a finished study)
# make lint         lint, formats, layers and types alone
# make othello4     4×4 Othello from nothing to a proof, in two minutes; with PUBLISHED=FOLDER (its model_iter_*.pt) five
#                   seeds, set beside the published networks
# make bench        speed of self-play beside the raw speed of the network
# make bench-peers  the same beside other programs: mctx, in an environment of its own, and a build of the published code
#                   that PUBLISHED= names (docs/peers.md); ROUNDS=... how often each is timed
# make bench-growth time and memory of a leaf as games and boards grow
# make clean        remove the environment and caches; results stay
#
# SCALE=smoke|laptop|paper chooses config/<scale>.yaml; SEED=1 another seed (in results/<scale>-seed1); PYTHON=... the
# interpreter; CORES=... how many cores to use.

SHELL := bash

SCALE ?= laptop
STUDY ?= study
CORES ?= all
TEST_PROCESSES ?= 2
ROUNDS ?= 5

# The text of SEED goes to the shell, so it has to be a number; `value` takes it as it stands, without $(...) being expanded.
no-digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst 8,,$(subst 9,,$1))))))))))
ifneq ($(call no-digits,$(value SEED))$(filter-out 0,$(filter 0%,$(value SEED))),)
$(error SEED: expected a whole number, found $(value SEED))
endif
RUN := $(SCALE)$(SEED:%=-seed%)

VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help reproduce study database smoke test test-all lint verify verify-results othello4 check reference \
    reference-study bench bench-peers bench-growth clean

help:
	@sed -n 's/^# \{0,1\}//; 1,23p' Makefile

# $(python) is the first interpreter that will do.
python = found=; for candidate in $(PYTHON) python3.11 python3 python; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        found="$$candidate"; break; fi; \
	    if [ -n "$(PYTHON)" ]; then break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "make: Python: $(or $(PYTHON),python3.11 or python3): expected 3.11 or newer, found none; set PYTHON=" >&2; \
	    exit 2; fi

# pip's own settings are respected: on Linux the usual torch is the large CUDA build, which runs without a GPU too; who has
# a source of the smaller CPU build may name it, for instance in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS.
$(INSTALLED): pyproject.toml workflow/constraints.txt
	@$(python); \
	echo "Installing into $(VENV) with $$("$$found" --version) (once; minutes on a slow connection)"; \
	"$$found" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c workflow/constraints.txt -e '.[test]'
	@touch $@

reproduce: $(INSTALLED)
	@$(BIN)/snakemake --cores $(CORES) --configfile config/$(SCALE).yaml $(if $(SEED),--config 'seeds=[$(SEED)]' name=$(RUN))

study: $(INSTALLED)
	$(if $(SEED),$(error SEED: expected none with a study, whose file names its seeds, found $(SEED)))
	@$(BIN)/snakemake --cores $(CORES) --configfile config/$(STUDY).yaml $(SIZE:%=config/$(STUDY)%.yaml)

smoke:
	@$(MAKE) --no-print-directory reproduce SCALE=smoke

lint: $(INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/lint-imports
	@$(BIN)/mypy

test: lint
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile -m "not slow and not system"

test-all: lint
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile

# Both runs are outside results/. The cache is all that differs between their settings. The second stops half-way, as if
# it had been interrupted, and goes on in a further call.
SECOND = --directory .verify/second --cores 1 --configfile config/smoke.yaml --config 'search={cache: false}'
verify: $(INSTALLED)
	@rm -rf .verify
	@$(BIN)/snakemake --directory .verify/first --cores 2 --configfile config/smoke.yaml
	@$(BIN)/snakemake $(SECOND) -- results/smoke/seed0/checkpoints/0002.safetensors
	@$(BIN)/snakemake $(SECOND)
	@$(BIN)/probzero same .verify/first/results/smoke .verify/second/results/smoke --without config.json

database: $(INSTALLED)
	@$(BIN)/probzero database --config config/$(SCALE).yaml

check: $(INSTALLED)
	@$(BIN)/probzero check --run results/$(RUN) --reference results/reference/$(RUN)

reference: $(INSTALLED)
	@$(BIN)/probzero reference --run results/$(RUN) --output results/reference/$(RUN)

reference-study: $(INSTALLED)
	@$(BIN)/probzero reference --run results/$(STUDY) --output results/reference/$(STUDY)

verify-results: $(INSTALLED)
	@$(BIN)/probzero verify-results

# In a variable, as commas separate the arguments of `if`.
FIVE_SEEDS := --config 'seeds=[0,1,2,3,4]'

othello4: $(INSTALLED)
	@$(BIN)/snakemake --cores $(CORES) --configfile config/othello4.yaml $(if $(PUBLISHED),$(FIVE_SEEDS))
	@$(BIN)/python tools/check_certificate.py results/othello4/seed*/certificates/*.json.gz
ifneq ($(PUBLISHED),)
	@$(BIN)/probzero compare-published --run results/othello4 --published $(sort $(wildcard $(PUBLISHED)/*.pt)) --trusted \
	    --output results/othello4/published
endif

bench: $(INSTALLED)
	@$(BIN)/probzero bench --config config/laptop.yaml config/paper.yaml --output results/bench/selfplay.csv \
	    --parts results/bench/parts.csv

# mctx has libraries of other versions than ours.
$(PEERS)/.installed: workflow/peers/constraints.txt
	@$(python); \
	echo "Installing mctx into $(PEERS) (once)"; \
	"$$found" -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -c workflow/peers/constraints.txt mctx pgx \
	    > $(PEERS)/pip.log 2>&1 || { echo "make: bench-peers: mctx and pgx: expected in pip's registry, found what" \
	    "$(PEERS)/pip.log says" >&2; exit 2; }
	@touch $@

bench-peers: $(INSTALLED) $(PEERS)/.installed
	@$(BIN)/probzero bench-peers --config config/paper.yaml config/laptop.yaml --largest 20 \
	    --mctx $(PEERS)/bin/python workflow/peers/mctx_selfplay.py $(if $(PUBLISHED),--published "$(PUBLISHED)") \
	    --rounds $(ROUNDS) --output results/bench/peers.csv

bench-growth: $(INSTALLED)
	@$(BIN)/probzero bench-growth --config config/laptop.yaml --output results/bench/growth.csv

clean:
	rm -rf $(VENV) $(PEERS) .verify .snakemake .pytest_cache .mypy_cache .ruff_cache .grimp_cache .import_linter_cache .hypothesis build src/*.egg-info
	find src kernels tests -name __pycache__ -type d -prune -exec rm -rf {} +
