# The report of a seed, in one job because each part takes less time than starting Python: tables of all iterations,
# ratings, what was measured against exact truth, and the figures drawn from them.
localrules:
    configuration,
    report,


rule configuration:
    output:
        "<run>/config.json",
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
        "python -m probzero config --config {params.config:q} --output {output:q} 2>&1 | tee {log:q}"


rule report:
    input:
        training=metrics("training", shards=False),
        selfplay=metrics("selfplay", shards=True),
        matches=rows,
        kept=measured("kept") if SOLVABLE else [],
        calibration=measured("calibration") if SOLVABLE else [],
        perfect=measured("perfect") if SOLVABLE else [],
        blunders=(expand("<run>/seed{{seed}}/truth/blunders/{iteration}.json", iteration=WATCHED) if SOLVABLE else []),
    output:
        tables=expand("<run>/seed{{seed}}/tables/{table}.{kind}", table=TABLES, kind=["csv", "md"]),
        figures=expand("<run>/seed{{seed}}/figures/{figure}.{kind}", figure=FIGURES, kind=["png", "pdf"]),
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
        players=[*NETWORKS, *ANCHORS],
        tables=lambda wildcards, output: os.path.dirname(output.tables[0]),
        figures=lambda wildcards, output: os.path.dirname(output.figures[0]),
    shell:
        "tables={params.tables:q} figures={params.figures:q};"
        " python -m probzero"
        ' tables --training {input.training:q} --training-table "$tables/training.csv"'
        ' --selfplay {input.selfplay:q} --selfplay-table "$tables/selfplay.csv"'
        " --then elo --matches {input.matches:q} --players {params.players:q}"
        ' --ratings "$tables/ratings.csv" --differences "$tables/differences.csv"'
        ' --pairings "$tables/pairings.csv" --model "$tables/model.csv"'
        ' --then figures --tables "$tables" --figures "$figures"'
        + (
            " --then truth-tables --kept {input.kept:q} --calibration {input.calibration:q}"
            " --perfect {input.perfect:q} --blunders {input.blunders:q}"
            ' --selfplay-table "$tables/selfplay.csv" --training-table "$tables/training.csv" --tables "$tables"'
            ' --then truth-figures --tables "$tables" --figures "$figures"'
            if SOLVABLE
            else ""
        )
        + " 2>&1 | tee {log:q}"
