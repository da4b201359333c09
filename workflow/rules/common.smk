# What the rules of runs and studies share: the checked configuration, what jobs depend on and cost.
import time

import psutil

from probzero import study

try:
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
CERTIFIABLE = CONFIG.game.entry.certifiable(**CONFIG.game.options)
# A fixed evaluation set, and a network given as the ceiling, are looked for beside the Snakefile, wherever results go.
FIXED_SET = [os.path.join(workflow.basedir, CONFIG.truth.positions)] if CONFIG.truth.positions else []
GIVEN_CEILING = [os.path.join(workflow.basedir, CONFIG.truth.ceiling)] if CONFIG.truth.ceiling else []
IN_PAPER = SOLVABLE and CONFIG.game.entry.in_paper
NETWORKS = [f"iteration-{iteration:04}" for iteration in CONFIG.arena.checkpoints]
ANCHORS = list(CONFIG.arena.anchors)
LEARNING_TABLES = ["training", "selfplay", "costs"]
TOURNAMENT_TABLES = ["ratings", "differences", "pairings", "model"]
TRUTH_TABLES = ["truth", "efficiency", "errors", "calibration", "reliability", "perfect", "blunders"]
TRUTH_TABLES += ["certificates"] if CERTIFIABLE else []
TRUTH_TABLES += ["delivered"] if CONFIG.game.entry.has_tables else []
TABLES = LEARNING_TABLES + TOURNAMENT_TABLES + (TRUTH_TABLES if SOLVABLE else [])
FIGURES = ["elo", "win_rates", "training", "selfplay", "costs"]
FIGURES += ["truth", "errors", "reliability", "blunders"] if SOLVABLE else []
FIGURES += ["certificates"] if SOLVABLE and CERTIFIABLE else []


pathvars:
    top=TOP,
    run=RUN,


wildcard_constraints:
    seed=r"\d+",
    iteration=r"(?!0000)\d{4}",
    shard=r"\d+",
    variant=r"[a-z][a-z0-9-]*",
    player=r"[a-z]+(-\d{4})?",


def say_cost():
    """Say how the cores' time of a whole run or study was spent, on this machine and without an environment made by conda."""
    if workflow.dag_settings.targets or BY_CONDA or not workflow.local_exec:
        return
    wall = time.time() - psutil.Process().create_time()
    shell(
        "python -m probzero cost --run {TOP:q} --wall {wall} --cores {workflow.cores} --output {TOP:q}/cost.csv"
        " || echo '(So what the workflow cost is not measured; the run itself is complete.)'"
    )


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
