# Learning: an untrained network, then self-play and training in turn.


localrules:
    init,


rule init:
    output:
        checkpoint="<run>/seed{seed}/checkpoints/0000.safetensors",
        optimizer="<run>/seed{seed}/optimizer/0000.safetensors",
    log:
        "<run>/seed{seed}/logs/init.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/init.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts("experiment", "game", "network"),
    shell:
        "python -m probzero init --config {params.config:q} --seed {wildcards.seed}"
        " --checkpoint {output.checkpoint:q} --optimizer {output.optimizer:q} 2>&1 | tee {log:q}"


rule selfplay:
    input:
        checkpoint=playing_network,
    output:
        dataset="<run>/seed{seed}/selfplay/{iteration}/shard{shard}.safetensors",
        games="<run>/seed{seed}/selfplay/{iteration}/shard{shard}.csv",
        metrics="<run>/seed{seed}/selfplay/{iteration}/shard{shard}.json",
        costs="<run>/seed{seed}/costs/selfplay/{iteration}-shard{shard}.json",
    log:
        "<run>/seed{seed}/logs/selfplay/{iteration}-shard{shard}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/selfplay/{iteration}-shard{shard}.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: CONFIG.selfplay.threads
    resources:
        mem_mb=memory(CONFIG.selfplay.capacity),
        gpu=gpus(CONFIG.selfplay),
        runtime=minutes(LEAVES),
    params:
        config=parts("experiment", "game", "search", "selfplay", "targets"),
        iterations=CONFIG.training.iterations,
    shell:
        "python -m probzero selfplay --config {params.config:q} --seed {wildcards.seed}"
        " --iteration {wildcards.iteration} --iterations {params.iterations} --shard {wildcards.shard}"
        " --checkpoint {input.checkpoint:q} --dataset {output.dataset:q} --games {output.games:q}"
        " --metrics {output.metrics:q} --costs {output.costs:q} 2>&1 | tee {log:q}"


rule train:
    input:
        checkpoint=previous("checkpoints"),
        optimizer=previous("optimizer"),
        datasets=window,
    output:
        checkpoint="<run>/seed{seed}/checkpoints/{iteration}.safetensors",
        optimizer="<run>/seed{seed}/optimizer/{iteration}.safetensors",
        metrics="<run>/seed{seed}/training/{iteration}.json",
        costs="<run>/seed{seed}/costs/train/{iteration}.json",
    log:
        "<run>/seed{seed}/logs/train/{iteration}.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/train/{iteration}.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: CONFIG.training.threads
    resources:
        mem_mb=memory(5 * SAMPLES),  # a sample takes as much as five nodes
        gpu=gpus(CONFIG.training),
        runtime=minutes(CONFIG.training.samples or SAMPLES),
    params:
        config=parts(*configuration.LEARNED),
    shell:
        "python -m probzero train --config {params.config:q} --seed {wildcards.seed} --iteration {wildcards.iteration}"
        " --checkpoint {input.checkpoint:q} --optimizer {input.optimizer:q} --datasets {input.datasets:q}"
        " --new-checkpoint {output.checkpoint:q} --new-optimizer {output.optimizer:q} --metrics {output.metrics:q}"
        " --costs {output.costs:q} 2>&1 | tee {log:q}"
