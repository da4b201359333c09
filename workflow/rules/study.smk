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
        runtime=minutes(len(NETWORKS) * MEASURED),
    params:
        config=parts(*configuration.LEARNED, "truth"),
    shell:
        "python -m probzero measure --config {params.config:q} --seed {wildcards.seed} --variant {wildcards.variant}"
        " --positions {input.positions:q} --checkpoints {input.checkpoints:q} --selfplay {input.selfplay:q}"
        " --training {input.training:q} --selfplay-costs {input.selfplay_costs:q}"
        " --training-costs {input.training_costs:q} --output {output.measures:q} --costs {output.costs:q}"
        " 2>&1 | tee {log:q}"


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
        " python -m probzero match --config {params.config:q} --seed {wildcards.seed}"
        ' --player "$player" --against "$@" {params.searches:q} {params.learned:q}'
        " --output {output:q} 2>&1 | tee {log:q}"


rule study_elo:
    input:
        expand(
            "<top>/seed{{seed}}/matches/{player}.csv",
            player=[name for name in CONTESTANTS if name != STUDY.reference],
        ),
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
        players=CONTESTANTS,
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "arena")}),
    shell:
        "python -m probzero elo --config {params.config:q} --matches {input:q} --players {params.players:q}"
        " --seed {wildcards.seed} --ratings {output.ratings:q}"
        " --differences {output.differences:q} --pairings {output.pairings:q} --model {output.model:q} 2>&1 | tee {log:q}"


rule study_report:
    input:
        study="<top>/config.json",
        measures=expand("<top>/{variant}/seed{seed}/measures.csv", variant=list(CONFIGS), seed=STUDY.seeds),
        costs=expand("<top>/{variant}/seed{seed}/costs.csv", variant=list(CONFIGS), seed=STUDY.seeds),
        ratings=expand("<top>/seed{seed}/tables/ratings.csv", seed=STUDY.seeds),
    output:
        tables=expand("<top>/tables/{table}.{kind}", table=STUDY_TABLES, kind=["csv", "md"]),
        figures=expand("<top>/figures/{figure}.{kind}", figure=STUDY_FIGURES, kind=["png", "pdf"]),
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
