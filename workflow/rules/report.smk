# The report: the settings, tables of all iterations, and the figures.


localrules:
    configuration,
    tables,
    figures,


rule configuration:
    output:
        "<run>/config.json",
    log:
        "<run>/logs/configuration.log",
    benchmark:
        "<run>/benchmarks/configuration.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    priority: 20
    params:
        config=parts(*configuration.PARTS),
    shell:
        "python -m probzero config --config {params.config:q} --output {output:q} 2>&1 | tee {log:q}"


rule tables:
    input:
        training=metrics("training", shards=False),
        selfplay=metrics("selfplay", shards=True),
    output:
        training="<run>/seed{seed}/tables/training.csv",
        selfplay="<run>/seed{seed}/tables/selfplay.csv",
        markdown=expand("<run>/seed{{seed}}/tables/{table}.md", table=LEARNING_TABLES),
    log:
        "<run>/seed{seed}/logs/tables.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/tables.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    shell:
        "python -m probzero tables --training {input.training:q} --selfplay {input.selfplay:q}"
        " --training-table {output.training:q} --selfplay-table {output.selfplay:q} 2>&1 | tee {log:q}"


rule figures:
    input:
        expand("<run>/seed{{seed}}/tables/{table}.csv", table=["training", "selfplay", "ratings", "pairings"]),
    output:
        expand("<run>/seed{{seed}}/figures/{figure}.{kind}", figure=FIGURES, kind=["png", "pdf"]),
    log:
        "<run>/seed{seed}/logs/figures.log",
    benchmark:
        "<run>/seed{seed}/benchmarks/figures.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        tables=lambda wildcards, input: os.path.dirname(input[0]),
        figures=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m probzero figures --tables {params.tables:q} --figures {params.figures:q} 2>&1 | tee {log:q}"
