# Exact truth: an evaluation set solved to the end, and every network of the tournament measured against it.
SOLVABLE = CONFIG.game.size in (4, 5)  # larger boards have no truth to compare with
# One more shard of self-play, half-way through the run, from which no network learns.
HELD_OUT = f"{(CONFIG.training.iterations + 1) // 2:04}/shard{CONFIG.selfplay.shards}"


localrules:
    truth_tables,
    truth_figures,


rule positions:
    input:
        f"<run>/seed{{seed}}/selfplay/{HELD_OUT}.bin",
    output:
        "<run>/seed{seed}/truth/positions.csv",
    log:
        "<run>/seed{seed}/logs/truth/positions.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/positions.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    params:
        config=parts("experiment", "game", "truth"),
    shell:
        "python -m probzero positions --config {params.config:q} --seed {wildcards.seed}"
        " --dataset {input:q} --output {output:q} 2>&1 | tee {log:q}"


rule ceiling:
    input:
        "<run>/seed{seed}/truth/positions.csv",
    output:
        checkpoint="<run>/seed{seed}/checkpoints/ceiling.safetensors",
        metrics="<run>/seed{seed}/truth/ceiling.json",
    log:
        "<run>/seed{seed}/logs/truth/ceiling-training.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/ceiling-training.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.training.threads
    priority: 5  # the longest of the jobs that wait for a free core, so it goes first among them
    params:
        config=parts("experiment", "game", "network", "training", "truth"),
    shell:
        "python -m probzero ceiling --config {params.config:q} --seed {wildcards.seed} --positions {input:q}"
        " --checkpoint {output.checkpoint:q} --metrics {output.metrics:q} 2>&1 | tee {log:q}"


rule truth:
    input:
        checkpoint=lambda wildcards: checkpoints(wildcards, [wildcards.player]),
        positions="<run>/seed{seed}/truth/positions.csv",
    output:
        kept="<run>/seed{seed}/truth/{player}/kept.csv",
        calibration="<run>/seed{seed}/truth/{player}/calibration.csv",
        perfect="<run>/seed{seed}/truth/{player}/perfect.csv",
    log:
        "<run>/seed{seed}/logs/truth/{player}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/{player}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    params:
        config=parts("experiment", "game", "search", "truth"),
    shell:
        "python -m probzero truth --config {params.config:q} --seed {wildcards.seed} --name {wildcards.player}"
        " --checkpoint {input.checkpoint:q} --positions {input.positions:q} --kept {output.kept:q}"
        " --calibration {output.calibration:q} --perfect {output.perfect:q} 2>&1 | tee {log:q}"


rule blunders:
    input:
        expand("<run>/seed{{seed}}/selfplay/{{iteration}}/shard{shard}.csv", shard=range(CONFIG.selfplay.shards)),
    output:
        "<run>/seed{seed}/truth/blunders/{iteration}.json",
    log:
        "<run>/seed{seed}/logs/truth/blunders-{iteration}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/blunders-{iteration}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    params:
        config=parts("game", "truth"),
    shell:
        "python -m probzero blunders --config {params.config:q} --iteration {wildcards.iteration}"
        " --games {input:q} --output {output:q} 2>&1 | tee {log:q}"


rule truth_tables:
    input:
        kept=measured("kept"),
        calibration=measured("calibration"),
        perfect=measured("perfect"),
        blunders=expand(
            "<run>/seed{{seed}}/truth/blunders/{iteration:04}.json",
            iteration=[max(1, iteration) for iteration in CONFIG.arena.checkpoints],
        ),
        selfplay="<run>/seed{seed}/tables/selfplay.csv",
        training="<run>/seed{seed}/tables/training.csv",
    output:
        expand("<run>/seed{{seed}}/tables/{table}.{kind}", table=TRUTH_TABLES, kind=["csv", "md"]),
    log:
        "<run>/seed{seed}/logs/truth/tables.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/tables.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        tables=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m probzero truth-tables --kept {input.kept:q} --calibration {input.calibration:q}"
        " --perfect {input.perfect:q} --blunders {input.blunders:q} --selfplay-table {input.selfplay:q}"
        " --training-table {input.training:q} --tables {params.tables:q} 2>&1 | tee {log:q}"


rule truth_figures:
    input:
        expand("<run>/seed{{seed}}/tables/{table}.csv", table=TRUTH_FIGURES),
    output:
        expand("<run>/seed{{seed}}/figures/{figure}.{kind}", figure=TRUTH_FIGURES, kind=["png", "pdf"]),
    log:
        "<run>/seed{seed}/logs/truth/figures.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/figures.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        tables=lambda wildcards, input: os.path.dirname(input[0]),
        figures=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m probzero truth-figures --tables {params.tables:q} --figures {params.figures:q} 2>&1 | tee {log:q}"
