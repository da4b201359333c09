# Which file follows from which, and who meets whom.


def run(wildcards):
    """The folder of a job's run."""
    return RUN.format(variant=getattr(wildcards, "variant", None))


def checkpoints(wildcards, players):
    """The files that players need: the checkpoints among them."""
    numbers = [player.removeprefix("iteration-") for player in players if player not in ANCHORS]
    return [f"{run(wildcards)}/seed{wildcards.seed}/checkpoints/{number}.safetensors" for number in numbers]


# What every iteration leaves, in one file or in one for each shard.
SELFPLAY_METRICS, TRAINING_METRICS = "selfplay/{number}/shard{shard}.json", "training/{number}.json"
SELFPLAY_COSTS, TRAINING_COSTS = "costs/selfplay/{number}-shard{shard}.json", "costs/train/{number}.json"


def of_iterations(pattern):
    """Input function: the files of such names that all iterations left."""
    numbers = [f"{iteration:04}" for iteration in range(1, CONFIG.training.iterations + 1)]
    return lambda wildcards: expand(
        f"{run(wildcards)}/seed{wildcards.seed}/{pattern}", number=numbers, shard=range(CONFIG.selfplay.shards)
    )


def previous(folder):
    """Input function: the file that the iteration before left in `folder`."""
    return (
        lambda wildcards: f"{run(wildcards)}/seed{wildcards.seed}/{folder}/{int(wildcards.iteration) - 1:04}.safetensors"
    )


def playing_network(wildcards):
    """The checkpoint that plays an iteration: that of the one before, or an older one if self-play lags behind."""
    number = max(0, int(wildcards.iteration) - 1 - settings(wildcards).selfplay.lag)
    return f"{run(wildcards)}/seed{wildcards.seed}/checkpoints/{number:04}.safetensors"


def window(wildcards):
    """The datasets that an iteration learns from, oldest first."""
    last = int(wildcards.iteration)
    first = max(1, last - settings(wildcards).training.replay_window + 1)
    return [
        f"{run(wildcards)}/seed{wildcards.seed}/selfplay/{iteration:04}/shard{shard}.safetensors"
        for iteration in range(first, last + 1)
        for shard in range(settings(wildcards).selfplay.shards)
    ]


def row(player):
    """A player's row of the tournament: the player, then its opponents.

    A network meets the networks before it and the anchors, so that its row can be played as soon as it is trained.
    """
    if player in NETWORKS:
        return [player, *NETWORKS[: NETWORKS.index(player)], *ANCHORS]
    return [player, *ANCHORS[: ANCHORS.index(player)]]


def rows(wildcards):
    """Input function: the rows of all players that have opponents in theirs."""
    players = [player for player in [*NETWORKS, *ANCHORS] if len(row(player)) > 1]
    return expand("<run>/seed{seed}/matches/{player}.csv", seed=wildcards.seed, player=players)


def match_commands(wildcards, players):
    """Parameter: the commands that play the rows of players, with a checkpoint for each player that has one.

    Made of wildcards alone: of a parameter that is made of output files, Snakemake would not notice a change.
    """
    config = parts("experiment", "game", "search", "arena")(wildcards)
    commands = []
    for player in players:
        first, *others = ["=".join([name, *checkpoints(wildcards, [name])]) for name in row(player)]
        output = f"{run(wildcards)}/seed{wildcards.seed}/matches/{player}.csv"
        named = ["--player", first, "--against", *others, "--output", output]
        commands.append(shlex.join(["tournament", "--config", config, "--seed", wildcards.seed, *named]))
    return "; python -m probzero ".join(commands)


def measured(kind):
    """Input function: what every network, the ceiling among them, left of one kind."""
    return lambda wildcards: expand(
        "<run>/seed{seed}/truth/{player}/{kind}.csv", seed=wildcards.seed, player=[*NETWORKS, "ceiling"], kind=kind
    )


def certified(player):
    """Parameter: the budgets with which a checkpoint is certified, as arguments."""
    chosen, last = CONFIG.certify, player == NETWORKS[-1]
    learned = CONFIG.arena.checkpoints[NETWORKS.index(player)] > 0  # searched, an untrained network meets too much

    def budgets(batches, raw=()):
        return ",".join(map(str, [*raw, *(CONFIG.truth.particles * count for count in batches)]))

    said = ["--particles", budgets(chosen.last_batches if last else chosen.batches * learned, raw=[0])]
    if last and chosen.won_phase:
        said += ["--won", budgets(chosen.won_batches, raw=[0])]
    if last and chosen.keys and chosen.batches:
        said += ["--keyed", budgets(chosen.batches), "--keys", str(chosen.keys)]
    return " ".join(said)


def certified_leaves(player):
    """The most leaves that the certificates of a checkpoint should take: on 5×5, searches from 40,000 positions."""
    chosen, last = CONFIG.certify, player == NETWORKS[-1]
    batches = sum(chosen.last_batches if last else chosen.batches)
    batches += (sum(chosen.won_batches) * 4 + sum(chosen.batches) * chosen.keys) * last
    return 40_000 * CONFIG.truth.particles * batches // 10  # of ten, nine are known from other positions


def learned(wildcards, players):
    """The checkpoints of a job's variant, if it learns."""
    return checkpoints(wildcards, players) if STUDY.learns(wildcards.variant) else []


def if_learning(pattern):
    """Input function: the files of such names that all iterations of a job's variant left, if it learns."""
    return lambda wildcards: of_iterations(pattern)(wildcards) if STUDY.learns(wildcards.variant) else []


def final_checkpoint(name, seed):
    """The last checkpoint of a contestant as a list: empty for one that does not learn."""
    folder = f"{RUN.format(variant=name)}/seed{seed}/checkpoints"
    learns = name in CONFIGS and STUDY.learns(name)
    return [f"{folder}/{CONFIG.training.iterations:04}.safetensors"] if learns else []


def contest_row(wildcards):
    """A contestant's row of the tournament: the player, then the hubs, for a hub those before it."""
    player = wildcards.contestant
    met = HUBS[: HUBS.index(player) if player in HUBS else None]
    return [player, *(name for name in met if int(wildcards.seed) in STUDY.seeds_of(name))]


def contest_searches(wildcards):
    """The arguments that give every variant of a contest its own search."""
    variants = [name for name in contest_row(wildcards) if name in CONFIGS]
    texts = [f"{name}={json.dumps(CONFIGS[name].as_dict()['search'])}" for name in variants]
    return [word for text in texts for word in ("--search", text)]


def contest_learned(wildcards):
    """The arguments that say with which settings the checkpoint of every variant of a contest must have learned."""
    variants = [name for name in contest_row(wildcards) if name in CONFIGS and STUDY.learns(name)]
    texts = [f"{name}={json.dumps(CONFIGS[name].fingerprints(configuration.LEARNED))}" for name in variants]
    return [word for text in texts for word in ("--learned", text)]
