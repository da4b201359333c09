# The report of a seed, in one job because each part takes less time than starting Python: tables of all iterations,
# ratings, what was measured against exact truth, and the figures drawn from them.
FIGURES_BY_CATEGORY = {
    "Exact truth": ["truth", "errors", "certificates", "reliability", "blunders"],
    "Tournament": ["elo", "win_rates"],
    "Learning": ["training", "selfplay", "costs"],
}


report: "../report/run.rst"


localrules:
    configuration,
    report,


rule configuration:
    output:
        config="<run>/config.json",
        machine="<run>/machine.json",
    log:
        "<run>/logs/configuration.log",
    benchmark:
        "<run>/benchmarks/configuration.tsv"
    priority: 20
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts(*configuration.PARTS),
    shell:
        "python -m probzero config --config {params.config:q} --output {output.config:q} --machine {output.machine:q}"
        " 2>&1 | tee {log:q}"


rule report:
    input:
        training=of_iterations(TRAINING_METRICS),
        selfplay=of_iterations(SELFPLAY_METRICS),
        training_costs=of_iterations(TRAINING_COSTS),
        selfplay_costs=of_iterations(SELFPLAY_COSTS),
        matches=rows,
        kept=measured("kept") if SOLVABLE else [],
        calibration=measured("calibration") if SOLVABLE else [],
        perfect=measured("perfect") if SOLVABLE else [],
        certificates=(expand("<run>/seed{{seed}}/certificates/{player}.csv", player=NETWORKS) if CERTIFIABLE else []),
        blunders=(expand("<run>/seed{{seed}}/truth/blunders/{iteration}.json", iteration=WATCHED) if SOLVABLE else []),
    output:
        tables=[
            in_report(f"<run>/seed{{seed}}/tables/{table}.csv", "Tables", "table", table=table, seed="{seed}")
            for table in TABLES
        ],
        markdown=expand("<run>/seed{{seed}}/tables/{table}.md", table=TABLES),
        figures=[
            in_report(f"<run>/seed{{seed}}/figures/{figure}.png", category, figure, figure=figure, seed="{seed}")
            for category, figures in FIGURES_BY_CATEGORY.items()
            for figure in figures
            if figure in FIGURES
        ],
        for_print=expand("<run>/seed{{seed}}/figures/{figure}.pdf", figure=FIGURES),
    log:
        "<run>/seed{seed}/logs/report.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts("game", "selfplay", "training", "arena"),
        run=lambda wildcards: run(wildcards),
    shell:
        "python -m probzero report --config {params.config:q} --seed {wildcards.seed} --run {params.run:q}"
        " 2>&1 | tee {log:q}"


# A page for the browser that needs no server: games of the last network with what it thought of every position, and the
# exact truth. It shows the first seed. Nothing else is made of it, so it is made when it is asked for (make page).
rule page:
    input:
        config="<run>/config.json",
        checkpoint=f"<run>/seed{CONFIG.seeds[0]}/checkpoints/{NETWORKS[-1].removeprefix('iteration-')}.safetensors",
        matches=f"<run>/seed{CONFIG.seeds[0]}/matches/{NETWORKS[-1]}.csv",
        certificates=f"<run>/seed{CONFIG.seeds[0]}/certificates/{NETWORKS[-1]}.csv" if CERTIFIABLE else [],
    output:
        in_report("<run>/explore.html", "Games", "explore", page="games of the last network"),
    log:
        "<run>/logs/page.log",
    benchmark:
        "<run>/benchmarks/page.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        config=parts("experiment", "game", "search", "arena"),
        seed=CONFIG.seeds[0],
    shell:
        "python -m probzero explore {input.checkpoint:q} --config {params.config:q} --seed {params.seed}"
        " --export {output:q} 2>&1 | tee {log:q}"
