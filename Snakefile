# One driver from nothing to the figures: init → selfplay → train → … → match → elo, truth → tables, figures.
#   snakemake --cores all                                     the default scale
#   snakemake --cores all --use-conda                         the same in an environment made by conda
#   snakemake --cores all --configfile config/smoke.yaml      another scale
#   snakemake --cores all --configfile config/comparison.yaml variants × seeds at equal budgets (see comparison.smk)
from snakemake.utils import min_version

min_version("9.14.8")  # the oldest that was tried (the whole smoke scale)


# The scale of the command line stands alone: were it laid over the default, a forgotten key would go unnoticed.
if not workflow.overwrite_configfiles:

    configfile: workflow.source_path("config/laptop.yaml")


include: "workflow/rules/common.smk"


pathvars:
    top=TOP,
    run=RUN,


include: "workflow/rules/learning.smk"


if "variants" in config:

    include: "workflow/rules/comparison.smk"

    rule comparison:
        default_target: True
        input:
            "<top>/config.json",
            expand("<top>/tables/{table}.{kind}", table=COMPARISON_TABLES, kind=["csv", "md"]),
            expand("<top>/figures/{figure}.{kind}", figure=COMPARISON_FIGURES, kind=["png", "pdf"]),

else:

    include: "workflow/rules/tournament.smk"
    include: "workflow/rules/truth.smk"
    include: "workflow/rules/report.smk"
    include: "workflow/rules/paper.smk"

    rule all:
        default_target: True
        input:
            "<run>/config.json",
            expand(
                "<run>/seed{seed}/tables/{table}.{kind}",
                seed=CONFIG.seeds,
                table=LEARNING_TABLES + TOURNAMENT_TABLES + (TRUTH_TABLES if SOLVABLE else []),
                kind=["csv", "md"],
            ),
            expand(
                "<run>/seed{seed}/figures/{figure}.{kind}",
                seed=CONFIG.seeds,
                figure=FIGURES + (TRUTH_FIGURES if SOLVABLE else []),
                kind=["png", "pdf"],
            ),
            "<run>/paper.pdf" if SOLVABLE else [],
