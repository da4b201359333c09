# The tournament: every player meets every other; one job plays a player's row (see `row`).


localrules:
    elo,


rule match:
    input:
        lambda wildcards: checkpoints(wildcards, row(wildcards.player)),
    output:
        "<run>/seed{seed}/matches/{player}.csv",
    log:
        "<run>/seed{seed}/logs/match/{player}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/match/{player}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.arena.threads
    params:
        config=parts("experiment", "game", "search", "arena"),
        players=lambda wildcards: [argument(wildcards, player) for player in row(wildcards.player)],
    shell:
        "set -- {params.players:q}; player=$1; shift;"
        " python -m probzero match --config {params.config:q} --seed {wildcards.seed}"
        ' --player "$player" --against "$@"'
        " --output {output:q} 2>&1 | tee {log:q}"


rule elo:
    input:
        rows,
    output:
        ratings="<run>/seed{seed}/tables/ratings.csv",
        differences="<run>/seed{seed}/tables/differences.csv",
        pairings="<run>/seed{seed}/tables/pairings.csv",
        model="<run>/seed{seed}/tables/model.csv",
        markdown=expand("<run>/seed{{seed}}/tables/{table}.md", table=TOURNAMENT_TABLES),
    log:
        "<run>/seed{seed}/logs/elo.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/elo.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        players=PLAYERS,
    shell:
        "python -m probzero elo --matches {input:q} --players {params.players:q} --ratings {output.ratings:q}"
        " --differences {output.differences:q} --pairings {output.pairings:q} --model {output.model:q} 2>&1 | tee {log:q}"
