"""scripts/slurm/compare.sbatch on a cluster of this machine alone: munged, slurmctld and slurmd of the distribution."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

import harness
import shares

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

CONFIGURATION = """ClusterName=tdcmp
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ctld}
SlurmdPort={d}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=10 State=UP
"""


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


class Slurm(shares.ShareCase):
    FORMATS = "csv,json"

    def start(self, *words):
        log = open(self.path("c", os.path.basename(words[0]) + ".out"), "w")
        process = subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def ask(self, *words):
        return subprocess.run(words, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)

    def wait_for(self, what, condition, seconds=60):
        for _ in range(seconds * 5):
            if condition():
                return
            time.sleep(0.2)
        logs = "\n".join(harness.read_text(self.path("c", name))[-1500:] for name in sorted(os.listdir(self.path("c")))
                         if name.endswith((".log", ".out")))
        self.fail("%s: not within %d seconds\n%s" % (what, seconds, logs))

    def start_cluster(self):
        host = socket.gethostname().split(".")[0]
        folder = self.path("c")
        for name in ("state", "spool"):
            os.makedirs(os.path.join(folder, name))
        os.chmod(self.folder, 0o755)  # munge looks at the folders of its files
        key = harness.write_bytes(os.path.join(folder, "key"), os.urandom(128))
        os.chmod(key, 0o600)
        harness.write_text(os.path.join(folder, "slurm.conf"), CONFIGURATION.format(
            host=host, folder=folder, ctld=free_port(), d=free_port()))
        self.env = dict(harness.environment(), SLURM_CONF=os.path.join(folder, "slurm.conf"), PATH=PATH,
                        TDCMP=harness.TDCMP)
        self.start("munged", "--foreground", "--force", "--key-file=" + key, "--socket=" + folder + "/munge.socket",
                   "--pid-file=" + folder + "/munge.pid", "--log-file=" + folder + "/munge.log",
                   "--seed-file=" + folder + "/munge.seed")
        self.wait_for("munged", lambda: os.path.exists(folder + "/munge.socket"))
        self.start("slurmctld", "-D", "-i")
        self.wait_for("slurmctld", lambda: self.ask("scontrol", "ping").stdout.decode().find("is UP") >= 0)
        self.start("slurmd", "-D", "-N", host)
        self.wait_for("slurmd", lambda: self.ask("sinfo", "-h", "-o", "%T").stdout.split() == [b"idle"])

    def test_array_and_merge(self):
        expected, _ = self.whole()
        self.start_cluster()
        script = os.path.join(os.environ["TDC_SOURCE"], "scripts", "slurm", "compare.sbatch")
        done = self.ask(script, "3", *self.words[1:])
        self.assertEqual(done.returncode, 0, done.stdout)
        merge = done.stdout.decode().split()[-1]
        self.wait_for("the jobs", lambda: not self.ask("squeue", "-h").stdout.strip(), 120)
        job = self.ask("scontrol", "show", "job", merge).stdout.decode()
        outputs = "\n".join(harness.read_text(self.path(name)) for name in os.listdir(self.folder)
                            if name.startswith("slurm-"))
        self.assertIn("ExitCode=1:0", job, outputs)  # differences were found
        self.assertEqual(len(shares.parts(self.path("out"))), 3, outputs)
        self.assertEqual(shares.results(self.path("out")), expected)


if __name__ == "__main__":
    missing = [name for name in TOOLS if shutil.which(name, path=PATH) is None]
    if missing or os.getuid() != 0:
        print("skipped: Slurm is not here (%s), or this is not root" % (", ".join(missing) or "all of it is"))
        sys.exit(77)
    unittest.main()
