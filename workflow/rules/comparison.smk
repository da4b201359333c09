# The comparison: every variant learns with every seed at the same budget; all are measured on one evaluation set, of random
# play alone so that none has positions of its own games, and in one tournament for each seed everybody meets the hubs.
LEARNERS = [name for name in CONFIGS if COMPARISON.learns(name)]
CONTESTANTS = [*CONFIGS, *CONFIG.arena.anchors]
COMPARISON_TABLES = ["curves", "final", "elo", "ablations", "accounting", "efficiency"]
COMPARISON_FIGURES = ["comparison_truth", "comparison_variants", "comparison_ablations", "comparison_elo"]

COMPARISON_SETTINGS = {
    key: config[key]
    for key in ("name", "reference", "seeds", "budget_differs_in", "base", "variants")
    if key in config
}


localrules:
    comparison_configuration,
    comparison_elo,
    comparison_report,


rule comparison_configuration:
    output:
        "<top>/config.json",
    log:
        "<top>/logs/configuration.log",
    benchmark:
        "<top>/benchmarks/configuration.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    priority: 20
    params:
        config=json.dumps(COMPARISON_SETTINGS),
    shell:
        "python -m probzero config --config {params.config:q} --output {output:q} 2>&1 | tee {log:q}"


rule comparison_positions:
    output:
        "<top>/positions.csv",
    log:
        "<top>/logs/positions.log",
    benchmark:
        "<top>/benchmarks/positions.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    params:
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "truth")}),
    shell:
        "python -m probzero positions --config {params.config:q} --seed 0 --output {output:q} 2>&1 | tee {log:q}"


rule points:
    input:
        checkpoints=lambda wildcards: learned(wildcards, NETWORKS),
        selfplay=lambda wildcards: spent(wildcards, "selfplay", shards=True),
        training=lambda wildcards: spent(wildcards, "training", shards=False),
        positions="<top>/positions.csv",
    output:
        "<run>/seed{seed}/points.csv",
    log:
        "<run>/seed{seed}/logs/points.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/points.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.truth.threads
    priority: 5
    params:
        config=parts("game", "search", "truth"),
    shell:
        "python -m probzero points --config {params.config:q} --seed {wildcards.seed} --variant {wildcards.variant}"
        " --positions {input.positions:q} --checkpoints {input.checkpoints:q} --selfplay {input.selfplay:q}"
        " --training {input.training:q} --output {output:q} 2>&1 | tee {log:q}"


rule contest:
    input:
        lambda wildcards: contest_files(wildcards),
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
    params:
        config=json.dumps({name: CONFIG.as_dict()[name] for name in ("experiment", "game", "search", "arena")}),
        players=contest_players,
        searches=contest_searches,
    shell:
        "set -- {params.players:q}; player=$1; shift;"
        " python -m probzero match --config {params.config:q} --seed {wildcards.seed}"
        ' --player "$player" --against "$@" {params.searches}'
        " --output {output:q} 2>&1 | tee {log:q}"


rule comparison_elo:
    input:
        expand(
            "<top>/seed{{seed}}/matches/{player}.csv",
            player=[name for name in CONTESTANTS if name != COMPARISON.reference],
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
    params:
        players=CONTESTANTS,
    shell:
        "python -m probzero elo --matches {input:q} --players {params.players:q} --seed {wildcards.seed}"
        " --ratings {output.ratings:q}"
        " --differences {output.differences:q} --pairings {output.pairings:q} --model {output.model:q} 2>&1 | tee {log:q}"


rule comparison_report:
    input:
        points=expand("<top>/{variant}/seed{seed}/points.csv", variant=list(CONFIGS), seed=COMPARISON.seeds),
        ratings=expand("<top>/seed{seed}/tables/ratings.csv", seed=COMPARISON.seeds),
    output:
        tables=expand("<top>/tables/{table}.{kind}", table=COMPARISON_TABLES, kind=["csv", "md"]),
        figures=expand("<top>/figures/{figure}.{kind}", figure=COMPARISON_FIGURES, kind=["png", "pdf"]),
    log:
        "<top>/logs/report.log",
    benchmark:
        "<top>/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        reference=COMPARISON.reference,
        tables=lambda wildcards, output: os.path.dirname(output.tables[0]),
        figures=lambda wildcards, output: os.path.dirname(output.figures[0]),
    shell:
        "python -m probzero comparison-report --points {input.points:q} --ratings {input.ratings:q}"
        " --reference {params.reference} --tables {params.tables:q} --figures {params.figures:q} 2>&1 | tee {log:q}"
