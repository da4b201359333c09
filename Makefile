# make reproduce    set up, then everything from nothing to the figures at the default scale
# make test         set up, then lint, types and the tests that need Python alone (test-all: also slow ones and those that
#                   need system packages)
# make smoke        the whole pipeline at the smallest scale
# make study        what docs/protocol.md asks for, in its order: factorial, tuning, rivals, the default's scale, Elo by budget,
#                   outcomes and verdicts (results/study); hours, and each call goes on where the last one stopped;
#                   SIZE=-smoke: all of it in some minutes. STUDY=NAME: the study of config/NAME.yaml alone (study, settings)
# make verify       run the smoke scale twice, with other numbers of cores, with and without the evaluation cache, at once
#                   and interrupted, and compare: everything but times has to be the same bytes
# make page         a page for the browser with games of a finished run, what its last network thought of every position, and
#                   the truth: results/<scale>/explore.html
# make report       a page with figures, tables, games, the paper and the workflow of a finished run, to be read without a
#                   network: results/<scale>/report.html (STUDY=NAME: the same of a study or a tournament)
# make pack         put what an unfinished run needs to go on, some 20 MB, into results/packed/<scale>; make unpack: go on from
#                   there in another clone, with the same bytes (docs/running.md)
# make tournament   TOURNAMENT=budgets (Elo of one network by search budget), or published with PUBLISHED=FOLDER: the
#                   published project's 5×5 networks under the correct rules
# make database     solve every position of the default's game: some minutes, 4 GB of memory, 4 GB of disk
# make ceiling      the default's network trained on exact labels, with ever more draws until that stops to help; needs the database
# make verify-results   check every committed file of results/reference by its manifest and checksums
# make check        set a finished run beside the committed reference
# make twins        learn 4×4 as if on other processors: how far runs of one seed end apart, beside how far seeds do: results/twins
# make claims       judge every claim of README and paper by the committed results; with RUN=results/laptop by a run of yours
# make reference    make a finished run the committed reference (reference-study: the studies and their verdicts)
# make lint         lint, formats, layers and types alone
# make othello4     4×4 Othello from nothing to a proof, in two minutes; with PUBLISHED=FOLDER (its model_iter_*.pt) five
#                   seeds, set beside the published networks
# make bench        speed of self-play beside the raw speed of the network
# make bench-peers  the same beside other programs: mctx, in an environment of its own, and a build of the published code
#                   that PUBLISHED= names (docs/peers.md); ROUNDS=... how often each is timed
# make gpu-check    on a machine with a GPU: its kernels against their oracles, the whole search and pipeline, then a benchmark:
#                   results/bench/gpu.csv and gpu.md, a page to send back
# make bench-growth time and memory of a leaf as games and boards grow
# make lock         write the locks anew after a change of pins, and see that every platform has its wheels
# make release      an archive of what is committed, with checksums, for Zenodo (REPOSITORY=https://...: its address)
# make clean        remove the environment and caches; results stay
#
# SCALE=smoke|laptop|paper chooses config/<scale>.yaml; SEED=1 another seed (in results/<scale>-seed1); PYTHON=... the
# interpreter; CORES=... how many cores to use.
#
# Set up, .venv/bin/probzero plays (play, match), explains (explore, analyse, solve) and exports networks: docs/use.md.

SHELL := bash

SCALE ?= laptop
TOURNAMENT ?= budgets
CORES ?= all
TEST_PROCESSES ?= 2
ROUNDS ?= 5
UV_VERSION := 0.13.8

# The text of SEED goes to the shell, so it has to be a number; `value` takes it as it stands, without $(...) being expanded.
no-digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst 8,,$(subst 9,,$1))))))))))
ifneq ($(call no-digits,$(value SEED))$(filter-out 0,$(filter 0%,$(value SEED))),)
$(error SEED: expected a whole number, found $(value SEED))
endif
NAME := $(SCALE)$(SEED:%=-seed%)

VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help reproduce pack unpack page report study tournament database smoke test test-all lint ceiling verify verify-results othello4 \
    check twins reference reference-study claims release bench bench-peers bench-growth gpu-check lock clean

help:
	@sed -n 's/^# \{0,1\}//; 1,41p' Makefile

# $(python) is the first interpreter that will do.
python = found=; for candidate in $(PYTHON) python3.11 python3 python; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        found="$$candidate"; break; fi; \
	    if [ -n "$(PYTHON)" ]; then break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "make: Python: $(or $(PYTHON),python3.11 or python3): expected 3.11 or newer, found none; set PYTHON=" >&2; \
	    exit 2; fi

# Packages are those of requirements.lock, and pip refuses a file with another hash. pip's own settings are respected: on
# Linux the usual torch is the large CUDA build, which runs without a GPU too and brings along what workflow/cuda.lock names.
# Who has a source of the smaller build for processors may name it, for instance in PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL:
# that build is asked for first, because pip, left to itself, prefers any link that carries a hash, as those of a folder do
# not. `make LOCK=` installs the same versions without looking at hashes.
LOCK ?= requirements.lock
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
HASHED = $(PIP) install --require-hashes --no-deps --no-build-isolation
IS_CUDA = $(BIN)/python -c "from importlib.metadata import version; raise SystemExit('+cpu' in version('torch'))"
$(INSTALLED): pyproject.toml workflow/constraints.txt $(LOCK)
	@$(python); \
	echo "Installing into $(VENV) with $$("$$found" --version) (once; minutes on a slow connection)"; \
	"$$found" -m venv --clear $(VENV)
ifeq ($(LOCK),)
	@$(PIP) install -c workflow/constraints.txt -e '.[test]'
else
	@$(HASHED) -r workflow/build.lock
	@$(HASHED) -r workflow/cpu.lock 2>/dev/null || true
	@$(HASHED) -r $(LOCK)
	@if $(IS_CUDA); then $(HASHED) -r workflow/cuda.lock; fi
	@$(PIP) install --no-deps --no-build-isolation -e .
endif
	@touch $@

# After a change of pyproject.toml or workflow/constraints.txt.
UV := .venv-lock/bin/uv
lock: $(INSTALLED)
	@$(BIN)/python -m venv --clear .venv-lock && .venv-lock/bin/python -m pip install --quiet uv==$(UV_VERSION)
	@$(BIN)/python tools/lock.py $(UV)
	@rm -rf .venv-lock

reproduce: $(INSTALLED)
	@$(BIN)/snakemake --cores $(CORES) --configfile config/$(SCALE).yaml $(if $(SEED),--config 'seeds=[$(SEED)]' name=$(NAME))

pack: $(INSTALLED)
	@$(BIN)/probzero pack --run results/$(NAME) --output results/packed/$(NAME)

unpack: $(INSTALLED)
	@$(BIN)/probzero unpack --packed results/packed/$(NAME) --config config/$(SCALE).yaml --run results/$(NAME)

page: $(INSTALLED)
	@$(BIN)/snakemake --cores $(CORES) --configfile config/$(SCALE).yaml $(if $(SEED),--config 'seeds=[$(SEED)]' name=$(NAME)) -- page

# What the page shows has to be there: the first call makes what is missing.
REPORTED = $(or $(STUDY),$(NAME))
OF_REPORTED = $(if $(STUDY),$(firstword $(wildcard results/$(STUDY).json) config/$(STUDY).yaml),config/$(SCALE).yaml) \
    $(if $(SEED),--config 'seeds=[$(SEED)]' name=$(NAME)) $(if $(STUDY),,-- all page)
report: $(INSTALLED)
	@$(SNAKE) $(OF_REPORTED)
	@$(BIN)/snakemake --cores $(CORES) --report results/$(REPORTED)/report.html --configfile $(OF_REPORTED)

# A study alone is one call. Otherwise each line is done again only where something is missing; SIZE lays config/*SIZE.yaml
# over the studies and puts everything into folders of that name. Claim 5 is told from the tournaments that are there.
SNAKE = $(BIN)/snakemake --cores $(CORES) --configfile
TUNING = $(BIN)/probzero tuning
SPACE = --space config/tuning$(SIZE).yaml
PICKED = $(SPACE) --picks $(MADE)/picks.csv
MADE = results/study$(SIZE)
sized = $(SIZE:%=config/$(1)%.yaml)
rated = $(patsubst %/config.json,--progress $(1)=%,$(firstword $(wildcard results/$(1)/config.json results/reference/$(1)/config.json)))
singled-out = $$($(BIN)/probzero openings names --outcomes $(MADE)/outcomes.safetensors --picks $(MADE)/picks.csv \
    --study $(1)=results/$(1)$(SIZE))
study: $(INSTALLED)
	$(if $(SEED),$(error SEED: expected none with a study, whose file names its seeds, found $(SEED)))
ifneq ($(STUDY),)
	@$(SNAKE) config/$(STUDY).yaml $(call sized,$(STUDY))
else
	@$(SNAKE) config/factorial.yaml $(call sized,factorial)
	@$(TUNING) draw $(SPACE) --output results/tuning$(SIZE).json
	@$(SNAKE) results/tuning$(SIZE).json
	@$(TUNING) pick $(SPACE) --results results/tuning$(SIZE) --output $(MADE)/picks.csv
	@$(TUNING) apply $(PICKED) --study config/rivals.yaml --output results/rivals$(SIZE).json
	@$(SNAKE) results/rivals$(SIZE).json $(call sized,rivals)
	@$(TUNING) apply $(PICKED) --study config/default-scale.yaml --only-rival --output results/default-scale$(SIZE).json
	@$(SNAKE) results/default-scale$(SIZE).json $(call sized,default-scale)
	@$(SNAKE) config/budgets.yaml $(call sized,budgets)
	@$(BIN)/probzero outcomes --output $(MADE)/outcomes.safetensors \
	    --studies $(foreach name,factorial rivals default-scale,$(name)=results/$(name)$(SIZE))
	@$(SNAKE) config/factorial.yaml $(call sized,factorial) -- $(call singled-out,factorial)
	@$(SNAKE) results/rivals$(SIZE).json $(call sized,rivals) -- $(call singled-out,rivals)
	@$(BIN)/probzero openings table --certificates $(call singled-out,factorial) $(call singled-out,rivals) \
	    --output $(MADE)/openings.csv
	@$(BIN)/probzero verdicts --outcomes $(MADE)/outcomes.safetensors --rivals results/rivals$(SIZE) --picks $(MADE)/picks.csv \
	    $(call rated,published) $(call rated,paper-ratings) --budgets results/budgets$(SIZE)/leaves \
	    --machine $(MADE)/machine.json --output $(MADE)/verdicts.csv
endif

tournament: $(INSTALLED)
	@$(BIN)/snakemake --cores $(CORES) --configfile config/$(TOURNAMENT).yaml \
	    $(if $(PUBLISHED),--config folder="$(abspath $(PUBLISHED))")

smoke:
	@$(MAKE) --no-print-directory reproduce SCALE=smoke

lint: $(INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/lint-imports
	@$(BIN)/mypy --num-workers 2

# A file stays in one process, for the sake of its fixtures. Files are begun in the order of tests/conftest.py.
TESTS = OMP_NUM_THREADS=1 $(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder
test: lint
	@$(TESTS) -m "not slow and not system"

test-all: lint
	@$(TESTS)

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

SETS := results/reference/positions
ceiling: $(INSTALLED)
	@$(BIN)/probzero population-ceiling --config config/laptop.yaml --validation $(SETS)/validation.csv \
	    --held-out $(SETS)/test.csv $(SETS)/drawn.csv --output results/ceiling

check: $(INSTALLED)
	@$(BIN)/probzero check --run results/$(NAME) --reference results/reference/$(SCALE)

THREE_SEEDS := --config 'seeds=[0,1,2]'
# On processors of AMD, avx2 and avx512 have the same bytes.
TWIN = $(BIN)/python tests/processors.py $(1) $(SNAKE) config/othello4.yaml $(THREE_SEEDS) name=othello4-$(1)
twins: $(INSTALLED)
	@$(call TWIN,avx2)
	@$(call TWIN,default)
	@$(BIN)/probzero twins --output results/twins/othello4.csv \
	    --runs $(foreach as,avx2 default,$(as)=results/othello4-$(as))

claims: $(INSTALLED)
	@$(BIN)/probzero claims $(if $(RUN),--run "$(RUN)")

reference: $(INSTALLED)
	@$(BIN)/probzero reference --run results/$(NAME) --output results/reference/$(NAME)

reference-study: $(INSTALLED)
	@for name in $(or $(STUDY),factorial tuning rivals default-scale budgets study); do \
	    $(BIN)/probzero reference --run results/$$name --output results/reference/$$name || exit; done

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

# Where there is no GPU, the first line says so and fails.
gpu-check: $(INSTALLED)
	@$(BIN)/probzero bench-gpu
	@$(BIN)/pytest -m gpu tests/gpu
	@$(BIN)/snakemake --directory .gpu-check --cores $(CORES) --forceall --configfile config/smoke.yaml
	@$(BIN)/probzero bench-gpu --config config/gpu.yaml --output results/bench/gpu.csv

bench-growth: $(INSTALLED)
	@$(BIN)/probzero bench-growth --config config/laptop.yaml --output results/bench/growth.csv

# In an environment of its own, as it needs an old jsonschema.
release: $(INSTALLED)
	@$(BIN)/probzero verify-results
	@$(BIN)/python -m venv --clear .venv-release
	@.venv-release/bin/python -m pip install --quiet --disable-pip-version-check cffconvert==2.0.0
	@.venv-release/bin/cffconvert --validate
	@$(BIN)/python tools/release.py $(if $(REPOSITORY),--repository "$(REPOSITORY)")

clean:
	rm -rf $(VENV) $(PEERS) .venv-release .venv-lock .verify .gpu-check .snakemake .pytest_cache .mypy_cache .ruff_cache .grimp_cache .import_linter_cache .hypothesis build src/*.egg-info
	find src kernels tests -name __pycache__ -type d -prune -exec rm -rf {} +
