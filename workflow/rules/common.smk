# What the rules share: how jobs are started, the checked configuration, the lock of a run, what jobs need and cost.
import fcntl
import json
import os
import shlex
import sys
import time
from pathlib import Path

import psutil
import snakemake
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake.utils import update_config

SOURCE = os.path.join(workflow.basedir, "src")
sys.path.insert(0, SOURCE)

from probzero import config as configuration
from probzero import study
from probzero.errors import ProbZeroError

# Jobs find the package without installing it. Their `python` is that of the conda environment made for them or, without
# --use-conda, that beside the interpreter which runs Snakemake. PATH and PYTHONPATH are set in the job's own shell, after
# conda has activated the environment. Snakemake takes PYTHONPATH away from conda jobs. And if an environment was active
# already, conda puts the new one in its place on PATH: a venv's folder in front of it would stay in front.
BY_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
if BY_CONDA:
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

# Each job says one line of its own; of Snakemake's, those that only count jobs are left out.
logger.addFilter(lambda record: not str(record.msg).startswith(("Select jobs to execute", "Execute ")))


def plain(value):
    """Values of the command line as they look: Snakemake takes the numbers of `--config seeds=[1]` for texts."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


update_config(config, plain(workflow.config_settings.config))
try:
    for path in workflow.configfiles:
        configuration.read(path)  # refuses a key that stands twice in a file: Snakemake would take the second
    WHERE = ", ".join(map(str, workflow.configfiles)) or "--config"
    if "variants" in config:  # a study: several variants of one configuration, one of them the reference
        STUDY = study.parse(config, WHERE)
        CONFIGS = STUDY.variants
        CONFIG = CONFIGS[STUDY.reference]
        TOP = f"results/{STUDY.name}"
        RUN = f"{TOP}/{{variant}}"
    else:
        CONFIG = configuration.parse_run(config, WHERE)
        CONFIGS = {None: CONFIG}
        TOP = RUN = f"results/{CONFIG.name}"
except ProbZeroError as error:
    raise WorkflowError(str(error))

# Without a solver there is no truth to measure against: the game is learned, played and rated all the same.
SOLVABLE = CONFIG.game.entry.solvable(**CONFIG.game.options)
# A fixed evaluation set is looked for beside the Snakefile, wherever results go.
FIXED_SET = [os.path.join(workflow.basedir, CONFIG.truth.positions)] if CONFIG.truth.positions else []
IN_PAPER = SOLVABLE and CONFIG.game.entry.in_paper
NETWORKS = [f"iteration-{iteration:04}" for iteration in CONFIG.arena.checkpoints]
ANCHORS = list(CONFIG.arena.anchors)
LEARNING_TABLES = ["training", "selfplay", "costs"]
TOURNAMENT_TABLES = ["ratings", "differences", "pairings", "model"]
TRUTH_TABLES = ["truth", "efficiency", "errors", "calibration", "reliability", "perfect", "blunders", "certificates"]
TABLES = LEARNING_TABLES + TOURNAMENT_TABLES + (TRUTH_TABLES if SOLVABLE else [])
FIGURES = ["elo", "win_rates", "training", "selfplay", "costs"]
FIGURES += ["truth", "errors", "reliability", "blunders"] if SOLVABLE else []


wildcard_constraints:
    seed=r"\d+",
    iteration=r"(?!0000)\d{4}",
    shard=r"\d+",
    variant=r"[a-z][a-z0-9-]*",
    player=r"[a-z]+(-\d{4})?",


def hold(path):
    """Lock a file until this process ends; however it ends, the system lets go of it."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    held = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError(f"{folder}: another run is writing there")
    except OSError as error:  # some network file systems know no locks
        logger.warning(f"{path}: cannot be locked ({error}); let no other run write to {folder}")


def say_cost():
    """Say how the cores' time of a whole run or study was spent, on this machine and without an environment made by conda."""
    if workflow.dag_settings.targets or BY_CONDA or not workflow.local_exec:
        return
    wall = time.time() - psutil.Process().create_time()
    shell(
        "python -m probzero cost --run {TOP:q} --wall {wall} --cores {workflow.cores} --output {TOP:q}/cost.csv"
        " || echo '(So what the workflow cost is not measured; the run itself is complete.)'"
    )


def memory(nodes=0):
    """MB of a job: Python, torch and compiled code take up to 450, a node of a search graph 220 bytes."""
    return 500 + nodes // 4000


def minutes(evaluations=0):
    """Minutes after which a job must hang, at 1,000 evaluations a second; the default scale does 5,000 and more."""
    return 15 + evaluations // 60_000


# The most that jobs evaluate: leaves of a shard, samples of a window (as measured, a leaf in four gives one), leaves of a
# pairing, and leaves of one network measured against exact truth.
LONGEST = CONFIG.game.entry.longest_game(**CONFIG.game.options)
LEAVES = CONFIG.selfplay.games * LONGEST * CONFIG.selfplay.particles * CONFIG.selfplay.batches
SAMPLES = LEAVES * CONFIG.selfplay.shards * CONFIG.training.replay_window // 4
PAIRING = 2 * CONFIG.arena.openings * LONGEST * CONFIG.arena.particles * CONFIG.arena.batches
MEASURED = (
    (2 * CONFIG.truth.per_stratum + CONFIG.truth.openings + CONFIG.truth.games_from_start)
    * LONGEST
    * CONFIG.truth.particles
    * max(CONFIG.truth.batches)
)


def settings(wildcards):
    """The configuration of a job: that of its variant, in a study."""
    return CONFIGS[getattr(wildcards, "variant", None)]


def parts(*names):
    """The named parts of the configuration as JSON: all that a rule depends on, so that nothing else makes it run again."""

    def chosen(wildcards):
        whole = settings(wildcards).as_dict()
        return json.dumps({name: whole[name] for name in names})

    return chosen
