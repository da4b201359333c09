# The paper: every number in it is read from the run's files when it is compiled. It shows the first seed.
# If the repository holds a finished comparison, the paper has a section on it.
from probzero.report.paper import compared

PAPER = [
    "paper.typ",
    "method.typ",
    "searches.typ",
    "results.typ",
    "comparison.typ",
    "values.typ",
    "compared.typ",
    "run.typ",
    "references.bib",
]
COMPARED = os.path.join(workflow.basedir, "results", "reference", "comparison")
HAS_COMPARISON = os.path.isdir(os.path.join(COMPARED, "tables"))


localrules:
    paper,


rule paper:
    input:
        "<run>/config.json",
        expand(
            "<run>/seed{seed}/tables/{table}.csv",
            seed=CONFIG.seeds[0],
            table=LEARNING_TABLES + TOURNAMENT_TABLES + TRUTH_TABLES,
        ),
        expand("<run>/seed{seed}/figures/{figure}.pdf", seed=CONFIG.seeds[0], figure=FIGURES + TRUTH_FIGURES),
        expand("<run>/seed{seed}/truth/{file}", seed=CONFIG.seeds[0], file=["positions.csv", "ceiling.json"]),
        # by its place in the repository: the run may be elsewhere
        source=[os.path.join(workflow.basedir, "paper", name) for name in PAPER],
        comparison=list(map(str, compared(Path(COMPARED)))) if HAS_COMPARISON else [],
    output:
        "<run>/paper.pdf",
    log:
        "<run>/logs/paper.log",
    benchmark:
        "<run>/benchmarks/paper.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        run=lambda wildcards, output: os.path.dirname(output[0]),
        seed=CONFIG.seeds[0],
        comparison=["--comparison", COMPARED] if HAS_COMPARISON else [],
    shell:
        "python -m probzero paper --run {params.run:q} --seed {params.seed} {params.comparison:q} --output {output:q}"
        " 2>&1 | tee {log:q}"
