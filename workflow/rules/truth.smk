# Exact truth: an evaluation set solved to the end, and every network of the tournament measured against it.
# Where no set is given: one more shard of self-play, half-way through the run, from which no network learns.
HELD_OUT = {"iteration": (CONFIG.training.iterations + 1) // 2, "shard": CONFIG.selfplay.shards}
HELD_OUT_DATASET = "<run>/seed{{seed}}/selfplay/{iteration:04}/shard{shard}.safetensors".format(**HELD_OUT)
# The iterations whose self-play is searched for blunders: those that the networks of the tournament come from.
WATCHED = sorted({f"{max(1, iteration):04}" for iteration in CONFIG.arena.checkpoints})


rule positions:
    input:
        FIXED_SET or HELD_OUT_DATASET,
    output:
        "<run>/seed{seed}/truth/positions.csv",
    log:
        "<run>/seed{seed}/logs/truth/positions.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/positions.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts("experiment", "game", "truth"),
        made_of=(
            ["--fixed"] if FIXED_SET else [*(f"--{name}={number}" for name, number in HELD_OUT.items()), "--dataset"]
        ),
    shell:
        "python -m probzero positions --config {params.config:q} --seed {wildcards.seed}"
        " {params.made_of} {input:q} --output {output:q} 2>&1 | tee {log:q}"


rule ceiling:
    input:
        GIVEN_CEILING,
        positions="<run>/seed{seed}/truth/positions.csv",
    output:
        checkpoint="<run>/seed{seed}/checkpoints/ceiling.safetensors",
        metrics="<run>/seed{seed}/truth/ceiling.json",
    log:
        "<run>/seed{seed}/logs/truth/ceiling-training.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/ceiling-training.tsv"
    priority: 5  # the longest of the jobs that wait for a free core, so it goes first among them
    conda:
        "../../environment.yml"
    threads: CONFIG.training.threads
    resources:
        mem_mb=memory(2400 * CONFIG.truth.ceiling_per_stratum),
        gpu=gpus(CONFIG.training),
        runtime=minutes(0 if GIVEN_CEILING else CONFIG.truth.ceiling_samples),
    params:
        config=parts("experiment", "game", "network", "training", "truth"),
        given=["--given", *GIVEN_CEILING] if GIVEN_CEILING else [],
    shell:
        "python -m probzero ceiling --config {params.config:q} --seed {wildcards.seed} --positions {input.positions:q}"
        " {params.given:q} --checkpoint {output.checkpoint:q} --metrics {output.metrics:q} 2>&1 | tee {log:q}"


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
    resources:
        mem_mb=memory(CONFIG.truth.capacity),
        gpu=gpus(CONFIG.truth),
        runtime=minutes(MEASURED),
    params:
        config=parts("experiment", "game", "search", "truth"),
        whole=lambda wildcards: ["--curve"] if wildcards.player in NETWORKS[:-1] else [],
    shell:
        "python -m probzero truth --config {params.config:q} --seed {wildcards.seed} --name {wildcards.player}"
        " {params.whole:q}"
        " --checkpoint {input.checkpoint:q} --positions {input.positions:q} --kept {output.kept:q}"
        " --calibration {output.calibration:q} --perfect {output.perfect:q} 2>&1 | tee {log:q}"


rule certify:
    input:
        checkpoint=lambda wildcards: checkpoints(wildcards, [wildcards.player]),
    output:
        table="<run>/seed{seed}/certificates/{player}.csv",
        certificate="<run>/seed{seed}/certificates/{player}.json.gz",
    log:
        "<run>/seed{seed}/logs/truth/certify-{player}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/certify-{player}.tsv"
    wildcard_constraints:
        player="|".join(NETWORKS),
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=2 * memory(CONFIG.truth.capacity),
        gpu=gpus(CONFIG.truth),
        runtime=lambda wildcards: minutes(certified_leaves(wildcards.player)),
    params:
        config=parts("experiment", "game", "search", "truth", "certify"),
        budgets=lambda wildcards: certified(wildcards.player),
    shell:
        "python -m probzero certify {input.checkpoint:q} --config {params.config:q} --seed {wildcards.seed}"
        " --name {wildcards.player} {params.budgets} --output {output.table:q} --certificate {output.certificate:q}"
        " 2>&1 | tee {log:q}"


rule blunders:
    input:
        expand(
            "<run>/seed{{seed}}/selfplay/{iteration}/shard{shard}.csv",
            iteration=WATCHED,
            shard=range(CONFIG.selfplay.shards),
        ),
    output:
        expand("<run>/seed{{seed}}/truth/blunders/{iteration}.json", iteration=WATCHED),
    log:
        "<run>/seed{seed}/logs/truth/blunders.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/truth/blunders.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts("game", "selfplay", "truth"),
        folder=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m probzero blunders --config {params.config:q} --seed {wildcards.seed} --games {input:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"
