# What the rules share: the checked configuration, the names of players, and which file follows from which.
import json
import os
import shlex
import sys

from snakemake.exceptions import WorkflowError

SOURCE = os.path.join(workflow.basedir, "src")
sys.path.insert(0, SOURCE)

from probzero import config as configuration
from probzero.errors import ProbZeroError

# Jobs find the package without installing it, and the Python that runs Snakemake unless conda brings another.
# (Snakemake takes PYTHONPATH out of the environment of conda jobs, so it is set inside the job's shell.)
shell.executable("bash")
shell.prefix(f"set -euo pipefail; export PYTHONPATH={shlex.quote(SOURCE)}; ")
os.environ.update(PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]))

try:
    CONFIG = configuration.parse(config, ", ".join(map(str, workflow.configfiles)) or "--config")
except ProbZeroError as error:
    raise WorkflowError(str(error))

LEARNING_TABLES = ["training", "selfplay"]
TOURNAMENT_TABLES = ["ratings", "differences", "pairings", "model"]
TRUTH_TABLES = ["truth", "errors", "calibration", "reliability", "perfect", "blunders"]
TRUTH_FIGURES = ["truth", "errors", "reliability", "blunders"]
FIGURES = ["elo", "win_rates", "training", "selfplay"]
NETWORKS = [f"iteration-{iteration:04}" for iteration in CONFIG.arena.checkpoints]
PLAYERS = [*NETWORKS, *CONFIG.arena.anchors]
RUN = f"results/{CONFIG.name}"


wildcard_constraints:
    seed=r"\d+",
    iteration=r"(?!0000)\d{4}",
    shard=r"\d+",
    player=r"[a-z]+(-\d{4})?",


def parts(*names):
    """The named parts of the configuration as JSON: all that a rule depends on, so that nothing else makes it run again."""
    whole = CONFIG.as_dict()
    return json.dumps({name: whole[name] for name in names})


def previous(folder):
    """Input function: the file that the iteration before left in `folder`."""
    return lambda wildcards: f"<run>/seed{wildcards.seed}/{folder}/{int(wildcards.iteration) - 1:04}.safetensors"


def window(wildcards):
    """The datasets that an iteration learns from, oldest first."""
    last = int(wildcards.iteration)
    first = max(1, last - CONFIG.training.replay_window + 1)
    return [
        f"<run>/seed{wildcards.seed}/selfplay/{iteration:04}/shard{shard}.bin"
        for iteration in range(first, last + 1)
        for shard in range(CONFIG.selfplay.shards)
    ]


def checkpoints(seed, players):
    """The files that players need: the checkpoints among them."""
    numbers = [player.removeprefix("iteration-") for player in players if player not in CONFIG.arena.anchors]
    return [f"<run>/seed{seed}/checkpoints/{number}.safetensors" for number in numbers]


def argument(seed, player):
    """A player as the command line names it: with its checkpoint, if it has one."""
    return "=".join([player, *(path.replace("<run>", RUN) for path in checkpoints(seed, [player]))])


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
    pattern = "<run>/seed{seed}/{folder}/{number}/shard{shard}.json" if shards else "<run>/seed{seed}/{folder}/{number}.json"
    return lambda wildcards: expand(
        pattern, seed=wildcards.seed, folder=folder, number=numbers, shard=range(CONFIG.selfplay.shards)
    )


def measured(kind):
    """Input function: what every network, the ceiling among them, left of one kind."""
    return lambda wildcards: expand(
        "<run>/seed{seed}/truth/{player}/{kind}.csv", seed=wildcards.seed, player=[*NETWORKS, "ceiling"], kind=kind
    )
