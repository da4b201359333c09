# A study: every variant learns with every seed at the same budget; all are measured on one evaluation set, a fixed one or
# of random play, so that none has positions of its own games, and in one tournament for each seed everybody meets the hubs.
CONTESTANTS = [*CONFIGS, *ANCHORS]
STUDY_TABLES = ["curves", "final", "elo", "ablations", "accounting", "efficiency", "costs", "costs_to_reach"]
STUDY_FIGURES = ["study_truth", "study_variants", "study_costs", "study_costs_variants", "study_ablations", "study_elo"]
STUDY_SETTINGS = {
    key: config[key] for key in ("name", "reference", "seeds", "budget_differs_in", "base", "variants") if key in config
}
if not SOLVABLE:
    raise WorkflowError(f"configuration: {WHERE}: base.game: expected one with a solver for a study, found none")
# Whom everybody meets: the reference, its first rival and the perfect player, if they are there.
RIVALS = [name for name in CONFIGS if STUDY.described[name].role == "rival"]
HUBS = [STUDY.reference, *RIVALS[:1], *(name for name in ANCHORS if name == "perfect")]


def contestants(wildcards):
    """Who plays in the tournament of a seed."""
    return [name for name in CONTESTANTS if int(wildcards.seed) in STUDY.seeds_of(name)]


def of_every_seed(kind):
    """The files of a kind that every variant left with each of its seeds."""
    return [f"{TOP}/{name}/seed{seed}/{kind}.csv" for name in CONFIGS for seed in STUDY.seeds_of(name)]


report: "../report/study.rst"


localrules:
    study_configuration,
    study_elo,
    study_report,


rule study_configuration:
    output:
        config="<top>/config.json",
        machine="<top>/machine.json",
    log:
        "<top>/logs/configuration.log",
    benchmark:
        "<top>/benchmarks/configuration.tsv"
    priority: 20
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=json.dumps(STUDY_SETTINGS),
    shell:
        "python -m probzero config --config {params.config:q} --output {output.config:q} --machine {output.machine:q}"
        " 2>&1 | tee {log:q}"


rule study_positions:
    input:
        FIXED_SET,
    output:
        "<top>/positions.csv",
    log:
        "<top>/logs/positions.log",
    benchmark:
        "<top>/benchmarks/positions.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "truth")}),
        made_of=["--fixed"] if FIXED_SET else [],
    shell:
        "python -m probzero positions --config {params.config:q} --seed 0 {params.made_of} {input:q}"
        " --output {output:q} 2>&1 | tee {log:q}"


rule measure:
    input:
        checkpoints=lambda wildcards: learned(wildcards, NETWORKS),
        selfplay=if_learning(SELFPLAY_METRICS),
        training=if_learning(TRAINING_METRICS),
        selfplay_costs=if_learning(SELFPLAY_COSTS),
        training_costs=if_learning(TRAINING_COSTS),
        positions="<top>/positions.csv",
    output:
        measures="<run>/seed{seed}/measures.csv",
        costs="<run>/seed{seed}/costs.csv",
    log:
        "<run>/seed{seed}/logs/measure.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/measure.tsv"
    priority: 5
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=memory(CONFIG.truth.capacity),
        gpu=gpus(CONFIG.truth),
        runtime=minutes(len(NETWORKS) * MEASURED),
    params:
        config=parts(*configuration.LEARNED, "truth"),
    shell:
        "python -m probzero measure --config {params.config:q} --seed {wildcards.seed} --variant {wildcards.variant}"
        " --positions {input.positions:q} --checkpoints {input.checkpoints:q} --selfplay {input.selfplay:q}"
        " --training {input.training:q} --selfplay-costs {input.selfplay_costs:q}"
        " --training-costs {input.training_costs:q} --output {output.measures:q} --costs {output.costs:q}"
        " 2>&1 | tee {log:q}"


# Not part of a study's own results: it is asked for by name, of the arms that the outcomes single out.
rule openings:
    input:
        lambda wildcards: final_checkpoint(wildcards.variant, wildcards.seed),
    output:
        "<top>/seed{seed}/certificates/{variant}.csv",
    log:
        "<top>/seed{seed}/logs/certificates/{variant}.log",
    benchmark:
        "<top>/seed{seed}/benchmarks/certificates/{variant}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    resources:
        mem_mb=2 * memory(CONFIG.truth.capacity),
        runtime=minutes(40_000 * CONFIG.truth.particles * sum(CONFIG.certify.won_batches)),
    params:
        config=parts("experiment", "game", "search", "truth", "certify"),
        budgets=",".join(map(str, [0, *(CONFIG.truth.particles * count for count in CONFIG.certify.won_batches)])),
    shell:
        "python -m probzero certify {input:q} --config {params.config:q} --seed {wildcards.seed}"
        " --name {wildcards.variant} --won {params.budgets} --output {output:q} 2>&1 | tee {log:q}"


rule contest:
    input:
        lambda wildcards: [file for name in contest_row(wildcards) for file in final_checkpoint(name, wildcards.seed)],
    output:
        "<top>/seed{seed}/matches/{contestant}.csv",
    log:
        "<top>/seed{seed}/logs/match/{contestant}.log",
    benchmark:
        "<top>/seed{seed}/benchmarks/match/{contestant}.tsv"
    wildcard_constraints:
        contestant="|".join(CONTESTANTS),
    conda:
        "../../environment.yml"
    threads: CONFIG.arena.threads
    resources:
        mem_mb=memory(2 * CONFIG.arena.capacity),
        gpu=gpus(CONFIG.arena),
        runtime=minutes(len(HUBS) * PAIRING),
    params:
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "search", "arena")}),
        players=lambda wildcards: [
            "=".join([name, *final_checkpoint(name, wildcards.seed)]) for name in contest_row(wildcards)
        ],
        searches=contest_searches,
        learned=contest_learned,
    shell:
        "set -- {params.players:q}; player=$1; shift;"
        " python -m probzero tournament --config {params.config:q} --seed {wildcards.seed}"
        ' --player "$player" --against "$@" {params.searches:q} {params.learned:q}'
        " --output {output:q} 2>&1 | tee {log:q}"


rule study_elo:
    input:
        lambda wildcards: [
            f"{TOP}/seed{wildcards.seed}/matches/{player}.csv"
            for player in contestants(wildcards)
            if player != STUDY.reference
        ],
    output:
        ratings="<top>/seed{seed}/tables/ratings.csv",
        differences="<top>/seed{seed}/tables/differences.csv",
        pairings="<top>/seed{seed}/tables/pairings.csv",
        model="<top>/seed{seed}/tables/model.csv",
        markdown=expand("<top>/seed{{seed}}/tables/{table}.md", table=TOURNAMENT_TABLES),
    log:
        "<top>/seed{seed}/logs/elo.log",
    benchmark:
        "<top>/seed{seed}/benchmarks/elo.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        players=contestants,
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "arena")}),
    shell:
        "python -m probzero elo --config {params.config:q} --matches {input:q} --players {params.players:q}"
        " --seed {wildcards.seed} --ratings {output.ratings:q}"
        " --differences {output.differences:q} --pairings {output.pairings:q} --model {output.model:q} 2>&1 | tee {log:q}"


rule study_report:
    input:
        study="<top>/config.json",
        measures=of_every_seed("measures"),
        costs=of_every_seed("costs"),
        ratings=expand("<top>/seed{seed}/tables/ratings.csv", seed=STUDY.seeds),
    output:
        tables=[in_report(f"<top>/tables/{table}.csv", "Tables", "table", table=table) for table in STUDY_TABLES],
        markdown=expand("<top>/tables/{table}.md", table=STUDY_TABLES),
        figures=[in_report(f"<top>/figures/{figure}.png", "Figures", figure, figure=figure) for figure in STUDY_FIGURES],
        for_print=expand("<top>/figures/{figure}.pdf", figure=STUDY_FIGURES),
    log:
        "<top>/logs/report.log",
    benchmark:
        "<top>/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        tables=lambda wildcards, output: os.path.dirname(output.tables[0]),
        figures=lambda wildcards, output: os.path.dirname(output.figures[0]),
    shell:
        "python -m probzero study-report --study {input.study:q} --measures {input.measures:q}"
        " --costs {input.costs:q} --ratings {input.ratings:q} --tables {params.tables:q} --figures {params.figures:q} 2>&1 | tee {log:q}"
