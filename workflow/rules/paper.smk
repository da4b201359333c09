# The paper: every number in it is read from the run's files when it is compiled. It shows the first seed.
# If the repository holds a finished study, the paper has a section on it.
from probzero.report.paper import run_files, study_files

SHOWN = Path(workflow.basedir, "results", "reference", "study")
STUDIED = [SHOWN] if (SHOWN / "tables").is_dir() else []


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
    output:
        "<run>/paper.pdf",
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
        study=[word for folder in STUDIED for word in ("--study", str(folder))],
    shell:
        "python -m probzero paper --run {params.run:q} --seed {params.seed} {params.study:q} --output {output:q}"
        " 2>&1 | tee {log:q}"
