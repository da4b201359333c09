# The paper: every number in it is read from the run's files when it is compiled. It shows the first seed.
# If the repository holds a finished study, or verdicts on the published claims, the paper has a section on them. Of times it
# tells those of what is committed, so that the same run gives the same paper.
from probzero.report.paper import committed_files, run_files, study_files

COMMITTED = Path(workflow.basedir, "results")
KEPT = COMMITTED / "reference"
# The study that docs/protocol.md asks for, or the one before it: `study` is where the verdicts of the former go.
STUDIED = [folder for folder in (KEPT / "rivals", KEPT / "study") if (folder / "tables").is_dir()][:1]
VERDICTS = [path for path in [KEPT / "study" / "verdicts.csv"] if path.is_file()]
COSTS = [COMMITTED] if all(path.is_file() for path in committed_files(COMMITTED)) else []


localrules:
    paper,


rule paper:
    input:
        map(str, run_files(Path("<run>"), CONFIG.seeds[0])),
        # by their place in the repository: the run may be elsewhere
        source=sorted(
            str(path) for kind in ("typ", "bib") for path in Path(workflow.basedir, "paper").glob(f"*.{kind}")
        ),
        study=[str(path) for folder in STUDIED for path in study_files(folder)],
        verdicts=[str(path) for path in VERDICTS],
        costs=[str(path) for folder in COSTS for path in committed_files(folder)],
    output:
        in_report("<run>/paper.pdf", "Paper", "paper", document="paper"),
    log:
        "<run>/logs/paper.log",
    benchmark:
        "<run>/benchmarks/paper.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory(),
        runtime=minutes(),
    params:
        run=lambda wildcards, output: os.path.dirname(output[0]),
        seed=CONFIG.seeds[0],
        beside=[
            word
            for name, paths in (("study", STUDIED), ("verdicts", VERDICTS), ("committed", COSTS))
            for path in paths
            for word in (f"--{name}", str(path))
        ],
    shell:
        "python -m probzero paper --run {params.run:q} --seed {params.seed} {params.beside:q} --output {output:q}"
        " 2>&1 | tee {log:q}"
