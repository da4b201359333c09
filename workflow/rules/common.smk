# What the rules share: the checked configuration, the names of players, and which file follows from which.
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

import snakemake
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

SOURCE = os.path.join(workflow.basedir, "src")
sys.path.insert(0, SOURCE)

from probzero import comparison
from probzero import config as configuration
from probzero.errors import ProbZeroError

# Jobs find the package without installing it. Their `python` is that of the conda environment made for them or, without
# --use-conda, that beside the interpreter which runs Snakemake. PATH and PYTHONPATH are set in the job's own shell, after
# conda has activated the environment. Snakemake takes PYTHONPATH away from conda jobs. And if an environment was active
# already, conda puts the new one in its place on PATH: a venv's folder in front of it would stay in front.
if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    PROGRAMS = '"$CONDA_PREFIX"/bin'
    IN_CONDA = True
    # pip, called by conda, takes the pinned versions also of packages that environment.yml does not name.
    constraints = Path(workflow.basedir, "workflow", "constraints.txt").as_uri()
    os.environ.update(PIP_CONSTRAINT=" ".join([*os.environ.get("PIP_CONSTRAINT", "").split(), constraints]))
else:
    PROGRAMS = shlex.quote(os.path.dirname(sys.executable))
    # Is this a conda environment that holds Snakemake? If Snakemake is in ~/.local, the other packages may be there too.
    IN_CONDA = Path(sys.prefix, "conda-meta").is_dir() and Path(snakemake.__file__).is_relative_to(sys.prefix)
if IN_CONDA:
    os.environ.update(PYTHONNOUSERSITE="1")  # what is installed in ~/.local is not part of the environment
shell.executable("bash")
shell.prefix(f'set -euo pipefail; export PATH={PROGRAMS}:"$PATH" PYTHONPATH={shlex.quote(SOURCE)}; ')

# Short jobs share one process that has everything imported (see probzero.warm); PROBZERO_WARM= turns it off.
if workflow.is_main_process and workflow.local_exec:
    os.environ.setdefault("PROBZERO_WARM", os.path.join(tempfile.gettempdir(), f"probzero-{os.getuid()}"))
    os.environ.update(PROBZERO_WARM_OWNER=str(os.getpid()))

try:
    WHERE = ", ".join(map(str, workflow.configfiles)) or "--config"
    if "variants" in config:  # a comparison: several variants of one configuration, one of them the reference
        COMPARISON = comparison.parse(config, WHERE)
        CONFIGS = COMPARISON.variants
        CONFIG = CONFIGS[COMPARISON.reference]
        TOP = f"results/{COMPARISON.name}"
        RUN = f"{TOP}/{{variant}}"
    else:
        CONFIG = configuration.parse(config, WHERE)
        CONFIGS = {None: CONFIG}
        TOP = RUN = f"results/{CONFIG.name}"
except ProbZeroError as error:
    raise WorkflowError(str(error))

LEARNING_TABLES = ["training", "selfplay"]
TOURNAMENT_TABLES = ["ratings", "differences", "pairings", "model"]
TRUTH_TABLES = ["truth", "efficiency", "errors", "calibration", "reliability", "perfect", "blunders"]
TRUTH_FIGURES = ["truth", "errors", "reliability", "blunders"]
FIGURES = ["elo", "win_rates", "training", "selfplay"]
NETWORKS = [f"iteration-{iteration:04}" for iteration in CONFIG.arena.checkpoints]
PLAYERS = [*NETWORKS, *CONFIG.arena.anchors]


wildcard_constraints:
    seed=r"\d+",
    iteration=r"(?!0000)\d{4}",
    shard=r"\d+",
    variant=r"[a-z][a-z0-9-]*",
    player=r"[a-z]+(-\d{4})?",


def settings(wildcards):
    """The configuration of a job: that of its variant, in a comparison."""
    return CONFIGS[getattr(wildcards, "variant", None)]


def run(wildcards):
    """The folder of a job's run."""
    return RUN.format(variant=getattr(wildcards, "variant", None))


def parts(*names):
    """The named parts of the configuration as JSON: all that a rule depends on, so that nothing else makes it run again."""

    def chosen(wildcards):
        whole = settings(wildcards).as_dict()
        return json.dumps({name: whole[name] for name in names})

    return chosen


def previous(folder):
    """Input function: the file that the iteration before left in `folder`."""
    return lambda wildcards: f"{run(wildcards)}/seed{wildcards.seed}/{folder}/{int(wildcards.iteration) - 1:04}.safetensors"


def playing_network(wildcards):
    """The checkpoint that plays an iteration: that of the one before, or an older one if self-play lags behind."""
    number = max(0, int(wildcards.iteration) - 1 - settings(wildcards).selfplay.lag)
    return f"{run(wildcards)}/seed{wildcards.seed}/checkpoints/{number:04}.safetensors"


def window(wildcards):
    """The datasets that an iteration learns from, oldest first."""
    last = int(wildcards.iteration)
    first = max(1, last - settings(wildcards).training.replay_window + 1)
    return [
        f"{run(wildcards)}/seed{wildcards.seed}/selfplay/{iteration:04}/shard{shard}.bin"
        for iteration in range(first, last + 1)
        for shard in range(settings(wildcards).selfplay.shards)
    ]


def checkpoints(wildcards, players):
    """The files that players need: the checkpoints among them."""
    numbers = [player.removeprefix("iteration-") for player in players if player not in CONFIG.arena.anchors]
    return [f"{run(wildcards)}/seed{wildcards.seed}/checkpoints/{number}.safetensors" for number in numbers]


def argument(wildcards, player):
    """A player as the command line names it: with its checkpoint, if it has one."""
    return "=".join([player, *checkpoints(wildcards, [player])])


def row(player):
    """A player's row of the tournament: the player, then its opponents.

    A network meets the networks before it and the anchors, so that its row can be played as soon as it is trained.
    """
    if player in NETWORKS:
        return [player, *NETWORKS[: NETWORKS.index(player)], *CONFIG.arena.anchors]
    return [player, *CONFIG.arena.anchors[: CONFIG.arena.anchors.index(player)]]


def rows(wildcards):
    """Input function: the rows of all players that have opponents in theirs."""
    players = [player for player in PLAYERS if len(row(player)) > 1]
    return expand("<run>/seed{seed}/matches/{player}.csv", seed=wildcards.seed, player=players)


def metrics(folder, shards):
    """Input function: the metrics that every iteration left in `folder`, in one file or in one for each shard."""
    numbers = [f"{iteration:04}" for iteration in range(1, CONFIG.training.iterations + 1)]
    pattern = "{run}/seed{seed}/{folder}/{number}/shard{shard}.json" if shards else "{run}/seed{seed}/{folder}/{number}.json"
    return lambda wildcards: expand(
        pattern,
        run=run(wildcards),
        seed=wildcards.seed,
        folder=folder,
        number=numbers,
        shard=range(CONFIG.selfplay.shards),
    )


def measured(kind):
    """Input function: what every network, the ceiling among them, left of one kind."""
    return lambda wildcards: expand(
        "<run>/seed{seed}/truth/{player}/{kind}.csv", seed=wildcards.seed, player=[*NETWORKS, "ceiling"], kind=kind
    )


def learned(wildcards, players):
    """The checkpoints of a job's variant, if it learns."""
    return checkpoints(wildcards, players) if COMPARISON.learns(wildcards.variant) else []


def spent(wildcards, folder, shards):
    """The metrics of a job's variant, if it learns."""
    return metrics(folder, shards)(wildcards) if COMPARISON.learns(wildcards.variant) else []


def hubs():
    """Whom everybody meets in a comparison's tournament: the reference, AlphaZero and the perfect player, if there."""
    present = [*CONFIGS, *CONFIG.arena.anchors]
    return [name for name in (COMPARISON.reference, "alphazero", "perfect") if name in present]


def contest_row(wildcards):
    """A contestant's row of a comparison's tournament: the player, then the hubs, for a hub those before it."""
    met = hubs()
    return [wildcards.contestant, *met[: met.index(wildcards.contestant) if wildcards.contestant in met else None]]


def final_checkpoint(seed, variant):
    return f"{RUN.format(variant=variant)}/seed{seed}/checkpoints/{CONFIG.training.iterations:04}.safetensors"


def contest_files(wildcards):
    """Input function: the last checkpoints of the variants that meet."""
    variants = [name for name in contest_row(wildcards) if name in CONFIGS and COMPARISON.learns(name)]
    return [final_checkpoint(wildcards.seed, name) for name in variants]


def contest_players(wildcards):
    """The players of a contest as the command line names them."""
    return [
        f"{name}={final_checkpoint(wildcards.seed, name)}" if name in CONFIGS and COMPARISON.learns(name) else name
        for name in contest_row(wildcards)
    ]


def contest_searches(wildcards):
    """The arguments that give every variant of a contest its own search."""
    variants = [name for name in contest_row(wildcards) if name in CONFIGS]
    texts = [f"{name}={json.dumps(CONFIGS[name].as_dict()['search'])}" for name in variants]
    return " ".join(f"--search {shlex.quote(text)}" for text in texts)
