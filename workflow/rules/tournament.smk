# The tournament: every player meets every other. A job plays the row of one network, or the rows of all anchors.
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


def match_commands(wildcards, players, outputs):
    """The commands that play the rows of players, with a checkpoint for each player that has one."""
    config = parts("experiment", "game", "search", "arena")(wildcards)
    commands = []
    for player, output in zip(players, outputs, strict=True):
        first, *others = ["=".join([name, *checkpoints(wildcards, [name])]) for name in row(player)]
        named = ["--player", first, "--against", *others, "--output", output]
        commands.append(shlex.join(["match", "--config", config, "--seed", wildcards.seed, *named]))
    return "; python -m probzero ".join(commands)


rule match:
    input:
        lambda wildcards: checkpoints(wildcards, row(wildcards.player)),
    output:
        "<run>/seed{seed}/matches/{player}.csv",
    log:
        "<run>/seed{seed}/logs/match/{player}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/match/{player}.tsv"
    wildcard_constraints:
        player="|".join(NETWORKS),
    conda:
        "../../environment.yml"
    threads: CONFIG.arena.threads
    resources:
        mem_mb=memory(2 * CONFIG.arena.capacity),
        runtime=minutes(len(NETWORKS + ANCHORS) * PAIRING),
    params:
        commands=lambda wildcards, output: match_commands(wildcards, [wildcards.player], output),
    shell:
        "python -m probzero {params.commands} 2>&1 | tee {log:q}"


if len(ANCHORS) > 1:

    rule anchor_matches:
        output:
            expand("<run>/seed{{seed}}/matches/{player}.csv", player=ANCHORS[1:]),
        log:
            "<run>/seed{seed}/logs/match/anchors.log",
        benchmark:
            "<run>/seed{seed}/benchmarks/match/anchors.tsv"
        conda:
            "../../environment.yml"
        threads: CONFIG.arena.threads
        resources:
            mem_mb=memory(),
            runtime=minutes(),
        params:
            commands=lambda wildcards, output: match_commands(wildcards, ANCHORS[1:], output),
        shell:
            "{{ python -m probzero {params.commands}; }} 2>&1 | tee {log:q}"
