# What all rules share: how jobs are started, settings of the command line, the lock of a run, what jobs need.
import fcntl
import json
import os
import shlex
import sys
from pathlib import Path

import snakemake
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake.utils import update_config

SOURCE = os.path.join(workflow.basedir, "src")
sys.path.insert(0, SOURCE)

from probzero import config as configuration
from probzero.drivers import has_driver
from probzero.errors import ProbZeroError

# Jobs find the package without installing it. Their `python` is that of the conda environment made for them or, without
# --use-conda, that beside the interpreter which runs Snakemake. PATH and PYTHONPATH are set in the job's own shell, after
# conda has activated the environment. Snakemake takes PYTHONPATH away from conda jobs. And if an environment was active
# already, conda puts the new one in its place on PATH: a venv's folder in front of it would stay in front.
BY_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
if BY_CONDA:
    PROGRAMS = '"$CONDA_PREFIX"/bin'
    IN_CONDA = True
    # pip, called by conda, takes the pinned versions also of packages that environment.yml does not name.
    constraints = Path(workflow.basedir, "workflow", "constraints.txt").as_uri()
    os.environ.update(PIP_CONSTRAINT=" ".join([*os.environ.get("PIP_CONSTRAINT", "").split(), constraints]))
else:
    PROGRAMS = shlex.quote(os.path.dirname(sys.executable))
    # Is this a conda environment that holds Snakemake? If Snakemake is in ~/.local, the other packages may be there too.
    IN_CONDA = Path(sys.prefix, "conda-meta").is_dir() and Path(snakemake.__file__).is_relative_to(sys.prefix)
if IN_CONDA:
    os.environ.update(PYTHONNOUSERSITE="1")  # what is installed in ~/.local is not part of the environment
shell.executable("bash")
shell.prefix(f'set -euo pipefail; export PATH={PROGRAMS}:"$PATH" PYTHONPATH={shlex.quote(SOURCE)}; ')

# Each job says one line of its own; of Snakemake's, those that only count jobs are left out.
logger.addFilter(lambda record: not str(record.msg).startswith(("Select jobs to execute", "Execute ")))


def plain(value):
    """Values of the command line as they look: Snakemake takes the numbers of `--config seeds=[1]` for texts."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


update_config(config, plain(workflow.config_settings.config))
try:
    for path in workflow.configfiles:
        configuration.read(path)  # refuses a key that stands twice in a file: Snakemake would take the second
except ProbZeroError as error:
    raise WorkflowError(str(error))
WHERE = ", ".join(map(str, workflow.configfiles)) or "--config"


def hold(path):
    """Lock a file until this process ends; however it ends, the system lets go of it."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        held = os.open(path, os.O_CREAT | os.O_WRONLY)
    except OSError as error:  # it belongs to another, it is mounted to be read alone, or the disk is full
        raise WorkflowError(f"{folder}: expected a folder to write to, found {error.strerror}")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError(f"{folder}: another run is writing there")
    except OSError as error:  # some network file systems know no locks
        logger.warning(f"{path}: cannot be locked ({error}); let no other run write to {folder}")


def memory(nodes=0):
    """MB of a job: Python, torch and compiled code take up to 450, a node of a search graph 220 bytes."""
    return 500 + nodes // 4000


def minutes(evaluations=0):
    """Minutes after which a job must hang, at 1,000 evaluations a second; the default scale does 5,000 and more."""
    return 15 + evaluations // 60_000


def gpus(job):
    """How many GPUs a job of that part of the configuration takes. There is one, which jobs use in turns, unless
    --resources gpu=... says otherwise (profiles/default)."""
    return int(job.device == "cuda" or (job.device == "auto" and has_driver()))


def in_report(path, category, caption, **labels):
    """An output that the report shows (make report), with what is said of it and how it is called there."""
    return report(path, caption=f"../report/{caption}.rst", category=category, labels=labels)
