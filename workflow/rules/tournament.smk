# The tournament: every player meets every other. A job plays the row of one network, or the rows of all anchors.
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
        gpu=gpus(CONFIG.arena),
        runtime=minutes(len(NETWORKS + ANCHORS) * PAIRING),
    params:
        commands=lambda wildcards: match_commands(wildcards, [wildcards.player]),
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
            commands=lambda wildcards: match_commands(wildcards, ANCHORS[1:]),
        shell:
            "{{ python -m probzero {params.commands}; }} 2>&1 | tee {log:q}"
