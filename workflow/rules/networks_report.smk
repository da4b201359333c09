# What the report of a tournament of given networks shows beside its tables: the ratings as a figure.
report: "../report/tournaments.rst"


localrules:
    networks_figure,


rule networks_figure:
    input:
        record="<top>/config.json",
        ratings="<top>/{tournament}/tables/ratings.csv",
    output:
        in_report("<top>/{tournament}/figures/elo.png", "Tournaments", "tournament_elo", tournament="{tournament}"),
        "<top>/{tournament}/figures/elo.pdf",
    log:
        "<top>/logs/figure/{tournament}.log",
    benchmark:
        "<top>/benchmarks/figure/{tournament}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    shell:
        "python -m probzero tournament-figure --record {input.record:q} --tournament {wildcards.tournament}"
        " --ratings {input.ratings:q} --output {output[0]:q} 2>&1 | tee {log:q}"
