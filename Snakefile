# One driver from nothing to the figures: init → selfplay → train → … → match, truth → report → paper.
#   snakemake --cores all                                                    the default scale
#   snakemake --cores all --use-conda                                        the same in an environment made by conda
#   snakemake --cores all --config seeds=[1] name=laptop-seed1               another seed
#   snakemake --cores all --configfile config/smoke.yaml                     another scale
#   snakemake --cores all --configfile config/study.yaml                     variants × seeds at equal budgets (see study.smk)
#   snakemake --cores all --configfile config/published.yaml --config folder=FOLDER    given networks (see networks.smk)
# Other flags are those of profiles/default/config.yaml.
from snakemake.utils import min_version

min_version("9.20")  # which brings pydantic; the whole smoke scale was tried with 9.20.0


# The scale of the command line stands alone: were it laid over the default, a forgotten key would go unnoticed.
if not workflow.overwrite_configfiles:

    configfile: workflow.source_path("config/laptop.yaml")


include: "workflow/rules/jobs.smk"


if "tournaments" in config:

    include: "workflow/rules/networks.smk"

else:

    include: "workflow/rules/common.smk"
    include: "workflow/rules/inputs.smk"
    include: "workflow/rules/learning.smk"


# The profile turns off Snakemake's own lock, which stays behind when a run is killed.
onstart:
    hold(f"{TOP}/.lock")


if "tournaments" in config:

    include: "workflow/rules/networks_report.smk"

    rule tournaments:
        default_target: True
        input:
            TOURNAMENT_FILES,

elif "variants" in config:

    include: "workflow/rules/study.smk"

    rule study:
        default_target: True
        input:
            "<top>/config.json",
            expand("<top>/tables/{table}.{kind}", table=STUDY_TABLES, kind=["csv", "md"]),
            expand("<top>/figures/{figure}.{kind}", figure=STUDY_FIGURES, kind=["png", "pdf"]),

else:

    include: "workflow/rules/tournament.smk"

    if SOLVABLE:

        include: "workflow/rules/truth.smk"

    if IN_PAPER:

        include: "workflow/rules/paper.smk"
    include: "workflow/rules/report.smk"

    rule all:
        default_target: True
        input:
            "<run>/config.json",
            expand("<run>/seed{seed}/tables/{table}.{kind}", seed=CONFIG.seeds, table=TABLES, kind=["csv", "md"]),
            expand("<run>/seed{seed}/figures/{figure}.{kind}", seed=CONFIG.seeds, figure=FIGURES, kind=["png", "pdf"]),
            "<run>/paper.pdf" if IN_PAPER else [],


if "tournaments" not in config:

    onsuccess:
        say_cost()
