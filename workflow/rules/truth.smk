# Exact truth: an evaluation set solved to the end, and every network of the tournament measured against it.
# One more shard of self-play, half-way through the run, from which no network learns.
HELD_OUT = {"iteration": (CONFIG.training.iterations + 1) // 2, "shard": CONFIG.selfplay.shards}
# The iterations whose self-play is searched for blunders: those that the networks of the tournament come from.
WATCHED = sorted({f"{max(1, iteration):04}" for iteration in CONFIG.arena.checkpoints})


rule positions:
    input:
        "<run>/seed{{seed}}/selfplay/{iteration:04}/shard{shard}.safetensors".format(**HELD_OUT),
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
        held_out=[f"--{name}={number}" for name, number in HELD_OUT.items()],
    shell:
        "python -m probzero positions --config {params.config:q} --seed {wildcards.seed}"
        " --dataset {input:q} {params.held_out} --output {output:q} 2>&1 | tee {log:q}"


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
    priority: 5  # the longest of the jobs that wait for a free core, so it goes first among them
    conda:
        "../../environment.yml"
    threads: CONFIG.training.threads
    resources:
        mem_mb=memory(2400 * CONFIG.truth.ceiling_per_stratum),
        runtime=minutes(CONFIG.truth.ceiling_samples),
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
    resources:
        mem_mb=memory(CONFIG.truth.capacity),
        runtime=minutes(MEASURED),
    params:
        config=parts("experiment", "game", "search", "truth"),
    shell:
        "python -m probzero truth --config {params.config:q} --seed {wildcards.seed} --name {wildcards.player}"
        " --checkpoint {input.checkpoint:q} --positions {input.positions:q} --kept {output.kept:q}"
        " --calibration {output.calibration:q} --perfect {output.perfect:q} 2>&1 | tee {log:q}"


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
