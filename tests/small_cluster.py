"""A SLURM of two nodes on one machine, in namespaces of its own: it touches nothing outside its folder.

Mounts, network and processes are apart, so that /etc/slurm can be ours (SLURM's nested calls look nowhere else), ports
are free, and nothing outlives the end. A node is a namespace of processes within: killing its first process takes the
node's daemon and all its jobs at once, as a power cut would.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psutil
from apart import Apart, apart, started, until

PROGRAMS = (
    "slurmctld",
    "slurmd",
    "sbatch",
    "munged",
    "ip",
)  # Debian's slurmctld, slurmd, slurm-client, munge, iproute2
CONFIGURATION = """\
ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17000
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=20
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
MinJobAge=600
SchedulerParameters=sched_interval=1,batch_sched_delay=0
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName=node{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={memory}"
MEMORY = 6000  # MB of a node; more than any job of the smoke scale asks for


class Cluster:
    """A running cluster."""

    def __init__(self, folder: Path, within: Apart) -> None:
        self.folder, self.within, self.nodes = folder, within, dict[str, psutil.Process]()

    def state(self, node: str) -> str:
        return self.within.call("sinfo", "--noheader", "--nodes", node, "--format", "%T").strip()

    def jobs(self, node: str) -> list[str]:
        """The names of the jobs that run on a node."""
        return self.within.call(
            "squeue", "--noheader", "--nodelist", node, "--states", "R", "--format", "%k"
        ).splitlines()

    def finished(self, rule: str) -> list[tuple[str, float, float]]:
        """Node, begin and end, in seconds, of the jobs of a rule that have ended."""
        form = "%k|%N|%S|%e"
        told = self.within.call("squeue", "--noheader", "--states", "CD", "--format", form).splitlines()
        rows = [line.split("|") for line in told if f"rule_{rule}_" in line]
        return [(node, *(datetime.fromisoformat(at).timestamp() for at in times)) for _, node, *times in rows]  # type: ignore[misc]

    def start_node(self, name: str) -> None:
        apart = [
            "unshare",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount",
            "--mount-proc",
            "--",
            "slurmd",
            "-D",
            "-N",
            name,
        ]
        self.nodes[name] = started(self.within.within(*apart), self.folder / f"{name}.log", "slurmd")

    def kill_node(self, name: str) -> None:
        """End a node's first process; the system ends all others in its namespace at once."""
        self.nodes.pop(name).kill()


@contextmanager
def cluster(folder: Path, nodes: int = 2) -> Iterator[Cluster]:
    """Start a cluster; at the end nothing of it is left but what is in its folder."""
    host = socket.gethostname().partition(".")[0]
    for part in ("etc", "state", "munge", *(f"spool-node{number}" for number in range(1, nodes + 1))):
        (folder / part).mkdir(parents=True)
    lines = [NODE.format(number=n, host=host, port=17000 + n, memory=MEMORY) for n in range(1, nodes + 1)]
    text = CONFIGURATION.format(host=host, folder=folder, nodes="\n".join(lines))
    (folder / "etc" / "slurm.conf").write_text(text, encoding="utf-8")
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    with apart(folder / "first.log") as within:
        within.call("mount", "--bind", str(folder / "etc"), "/etc/slurm")
        within.call("ip", "link", "set", "lo", "up")
        within.call("ip", "address", "add", "10.0.0.1/32", "dev", "lo")  # with 127.0.0.1 alone, no name is looked up
        names = [f"--{name}={folder / 'munge' / name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        munge = within.within("munged", "--force", "--foreground", f"--key-file={key}", *names)
        started(munge, folder / "munged.log", "munged")
        until((folder / "munge" / "socket").exists)
        started(within.within("slurmctld", "-D", "-i"), folder / "slurmctld.log", "slurmctld")
        made = Cluster(folder, within)
        for number in range(1, nodes + 1):
            made.start_node(f"node{number}")
        until(lambda: within.run("sinfo").returncode == 0 and all(made.state(node) == "idle" for node in made.nodes))
        yield made
