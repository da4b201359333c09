# Tournaments of networks that are there already, ours or published ones: nothing is learned. Where the configuration says
# so, every network is also measured against exact truth, raw in every orientation of the board, and certified.
from probzero import tournament

# Where the networks are, unless beside the Snakefile; no part of what is asked, as it changes no result.
FOLDER = str(config.pop("folder", workflow.basedir))
try:
    TOURNAMENTS = tournament.parse(config, WHERE)
except ProbZeroError as error:
    raise WorkflowError(str(error))
BASE = TOURNAMENTS.base
TOP = RUN = f"results/{TOURNAMENTS.name}"
RATED = ["ratings", "differences", "pairings", "model"]
TOURNAMENT_FILES = [f"{TOP}/config.json"]
TOURNAMENT_FILES += expand(
    f"{TOP}/{{tournament}}/figures/elo.{{kind}}", tournament=TOURNAMENTS.players, kind=["png", "pdf"]
)
if TOURNAMENTS.measured:
    TOURNAMENT_FILES += [f"{TOP}/tables/orientations.csv"]
    TOURNAMENT_FILES += expand(f"{TOP}/truth/{{network}}/kept.csv", network=TOURNAMENTS.networks)
    TOURNAMENT_FILES += expand(f"{TOP}/certificates/{{network}}.csv", network=TOURNAMENTS.networks)
POSITIONS = os.path.join(workflow.basedir, BASE.truth.positions)
SEED = 0  # of openings and draws; what is repeated here are openings


pathvars:
    top=TOP,
    run=RUN,


localrules:
    networks_configuration,
    import_network,
    networks_elo,


wildcard_constraints:
    tournament="|".join(TOURNAMENTS.players),
    network="|".join(TOURNAMENTS.networks),
    player=r"[a-z][a-z0-9-]*",


def of_base(*names):
    """Parts of the base as JSON: all that a rule depends on."""
    whole = BASE.as_dict()
    return json.dumps({name: whole[name] for name in names})


def network_file(name):
    """The checkpoint of a network: its own file, or the one imported from it."""
    file = TOURNAMENTS.networks[name]
    return os.path.join(FOLDER, file) if file.endswith(".safetensors") else f"{TOP}/networks/{name}.safetensors"


def networks_row(wildcards):
    """A player of a tournament and those it meets: all before it."""
    players = list(TOURNAMENTS.players[wildcards.tournament])
    return [wildcards.player, *players[: players.index(wildcards.player)]]


def networks_files(wildcards):
    """The checkpoints of a player and of those it meets, by player; the perfect one has none."""
    players = TOURNAMENTS.players[wildcards.tournament]
    return {name: network_file(players[name].network) for name in networks_row(wildcards) if name != tournament.PERFECT}


def networks_players(wildcards):
    """The same as arguments: NAME=FILE, or NAME alone."""
    found = networks_files(wildcards)
    return [f"{name}={found[name]}" if name in found else name for name in networks_row(wildcards)]


def networks_searches(wildcards):
    """The arguments that give every player its own search and budget."""
    found, said = TOURNAMENTS, []
    for name in networks_files(wildcards):
        search = found.searches[wildcards.tournament][name].as_dict()["search"]
        budget = found.players[wildcards.tournament][name].budget
        said += ["--search", f"{name}={json.dumps(search)}", "--budget", f"{name}={budget}"]
    return said


def played_leaves(tournament):
    """The most leaves that one player's row takes."""
    arena, players = BASE.arena, TOURNAMENTS.players[tournament].values()
    most = BASE.game.entry.longest_game(**BASE.game.options)
    return 2 * arena.openings * most * sum(player.budget for player in players)


rule networks_configuration:
    output:
        config="<top>/config.json",
        machine="<top>/machine.json",
    log:
        "<top>/logs/configuration.log",
    benchmark:
        "<top>/benchmarks/configuration.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=json.dumps(config),
    shell:
        "python -m probzero config --config {params.config:q} --output {output.config:q} --machine {output.machine:q}"
        " 2>&1 | tee {log:q}"


rule import_network:
    input:
        lambda wildcards: os.path.join(FOLDER, TOURNAMENTS.networks[wildcards.network]),
    output:
        "<top>/networks/{network}.safetensors",
    log:
        "<top>/logs/import/{network}.log",
    benchmark:
        "<top>/benchmarks/import/{network}.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    shell:
        "python -m probzero import {input:q} --output {output:q} 2>&1 | tee {log:q}"


rule networks_match:
    input:
        lambda wildcards: list(networks_files(wildcards).values()),
    output:
        "<top>/{tournament}/matches/{player}.csv",
    log:
        "<top>/logs/match/{tournament}/{player}.log",
    benchmark:
        "<top>/benchmarks/match/{tournament}/{player}.tsv"
    conda:
        "../../environment.yml"
    threads: BASE.arena.threads
    resources:
        mem_mb=memory(2 * BASE.arena.capacity),
        gpu=gpus(BASE.arena),
        runtime=lambda wildcards: minutes(played_leaves(wildcards.tournament)),
    params:
        config=of_base("experiment", "game", "search", "arena"),
        players=networks_players,
        searches=networks_searches,
    shell:
        "set -- {params.players:q}; player=$1; shift;"
        f" python -m probzero tournament --config {{params.config:q}} --seed {SEED} --imported"
        ' --player "$player" --against "$@" {params.searches:q}'
        " --output {output:q} 2>&1 | tee {log:q}"


rule networks_elo:
    input:
        lambda wildcards: [
            f"{TOP}/{wildcards.tournament}/matches/{player}.csv"
            for player in list(TOURNAMENTS.players[wildcards.tournament])[1:]
        ],
    output:
        **{
            table: in_report(
                f"<top>/{{tournament}}/tables/{table}.csv", "Tables", "table", table=table, tournament="{tournament}"
            )
            for table in RATED
        },
        markdown=expand("<top>/{{tournament}}/tables/{table}.md", table=RATED),
    log:
        "<top>/logs/elo/{tournament}.log",
    benchmark:
        "<top>/benchmarks/elo/{tournament}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        players=lambda wildcards: list(TOURNAMENTS.players[wildcards.tournament]),
        config=of_base("experiment", "game", "search", "arena"),
    shell:
        "python -m probzero elo --config {params.config:q} --matches {input:q} --players {params.players:q}"
        f" --seed {SEED} --ratings {{output.ratings:q}} --differences {{output.differences:q}}"
        " --pairings {output.pairings:q} --model {output.model:q} 2>&1 | tee {log:q}"


if TOURNAMENTS.measured:

    rule networks_positions:
        input:
            POSITIONS,
        output:
            "<top>/positions.csv",
        log:
            "<top>/logs/positions.log",
        benchmark:
            "<top>/benchmarks/positions.tsv"
        conda:
            "../../environment.yml"
        threads: BASE.truth.threads
        resources:
            mem_mb=memory(),
            runtime=minutes(),
        params:
            config=of_base("experiment", "game", "truth"),
        shell:
            f"python -m probzero positions --config {{params.config:q}} --seed {SEED} --fixed {{input:q}}"
            " --output {output:q} 2>&1 | tee {log:q}"

    rule networks_truth:
        input:
            checkpoint=lambda wildcards: network_file(wildcards.network),
            positions="<top>/positions.csv",
        output:
            kept="<top>/truth/{network}/kept.csv",
            calibration="<top>/truth/{network}/calibration.csv",
            perfect="<top>/truth/{network}/perfect.csv",
        log:
            "<top>/logs/truth/{network}.log",
        benchmark:
            "<top>/benchmarks/truth/{network}.tsv"
        conda:
            "../../environment.yml"
        threads: BASE.truth.threads
        resources:
            mem_mb=memory(BASE.truth.capacity),
            gpu=gpus(BASE.truth),
            runtime=minutes(4000 * BASE.truth.particles * max(BASE.truth.batches)),
        params:
            config=of_base("experiment", "game", "search", "truth"),
        shell:
            f"python -m probzero truth --config {{params.config:q}} --seed {SEED} --name {{wildcards.network}} --imported"
            " --checkpoint {input.checkpoint:q} --positions {input.positions:q} --kept {output.kept:q}"
            " --calibration {output.calibration:q} --perfect {output.perfect:q} 2>&1 | tee {log:q}"

    rule networks_orientations:
        input:
            networks=[network_file(name) for name in TOURNAMENTS.networks],
            positions="<top>/positions.csv",
        output:
            table="<top>/tables/orientations.csv",
            markdown="<top>/tables/orientations.md",
        log:
            "<top>/logs/orientations.log",
        benchmark:
            "<top>/benchmarks/orientations.tsv"
        conda:
            "../../environment.yml"
        threads: BASE.truth.threads
        resources:
            mem_mb=memory(),
            gpu=gpus(BASE.truth),
            runtime=minutes(),
        params:
            config=of_base("experiment", "game", "truth"),
            networks=[f"{name}={network_file(name)}" for name in TOURNAMENTS.networks],
        shell:
            "python -m probzero orientations --config {params.config:q} --imported --networks {params.networks:q}"
            " --positions {input.positions:q} --output {output.table:q} 2>&1 | tee {log:q}"

    rule networks_certify:
        input:
            lambda wildcards: network_file(wildcards.network),
        output:
            table="<top>/certificates/{network}.csv",
            certificate="<top>/certificates/{network}.json.gz",
        log:
            "<top>/logs/certify/{network}.log",
        benchmark:
            "<top>/benchmarks/certify/{network}.tsv"
        conda:
            "../../environment.yml"
        threads: BASE.truth.threads
        resources:
            mem_mb=2 * memory(BASE.truth.capacity),
            gpu=gpus(BASE.truth),
            runtime=minutes(40_000 * BASE.truth.particles * sum(BASE.certify.batches)),
        params:
            config=of_base("experiment", "game", "search", "truth", "certify"),
            budgets=",".join(map(str, [0, *(BASE.truth.particles * count for count in BASE.certify.batches)])),
        shell:
            f"python -m probzero certify {{input:q}} --config {{params.config:q}} --seed {SEED} --imported"
            " --name {wildcards.network} --particles {params.budgets} --output {output.table:q}"
            " --certificate {output.certificate:q} 2>&1 | tee {log:q}"
