"""The checks. check.sh runs this file with the binary and a directory for all files that the checks write."""
import os
import signal
import sys
import time

from monitor import watch_monitor
from readings import by_index, check_identity, check_library, check_processes, check_status
from table import Table
from tools import Holder, Program, is_alive, owner_of, row_of, smi_list, smi_processes, smi_table, until

HELD_MIB = 10 * 1024

# The heartbeat interval of a job, and a margin for a busy machine.
HEARTBEAT_SECONDS = 60 + 10


class Checks:
    def __init__(self, binary, work):
        self.table = Table()
        self.program = Program(binary)
        self.binary, self.work = binary, work
        self.me = owner_of(os.getpid())
        self.gpu, self.uuid, self.before, self.split = None, None, {}, []

    def make_pool(self):
        rows = by_index(smi_table("gpu", ["index", "uuid", "memory.used", "mig.mode.current"]))
        made = self.program.run("admin", "--store", "embedded", "--provider", "nvidia")
        self.table.check("admin makes a pool of all GPUs", made.returncode == 0 and f"{len(rows)} GPU(s)" in made.stdout, made.stdout + made.stderr)
        self.split = [gpu for gpu, row in rows.items() if row["mig.mode.current"] == "Enabled"]
        free = [gpu for gpu, row in self.program.rows().items() if row["status"] == "AVAILABLE" and gpu not in self.split]
        if not free and len(self.split) == len(rows):
            self.table.skip("all checks of whole GPUs", "every GPU is in MIG mode")
        elif self.table.check("status shows an idle whole GPU as AVAILABLE", bool(free), f"idle: {free} of {len(rows)}"):
            self.gpu = free[0]
            self.uuid = rows[self.gpu]["uuid"]
            self.before = rows

    def idle(self):
        check_identity(self.table, self.program)
        check_status(self.table, "idle", self.program, self.gpu)
        check_processes(self.table, "idle", self.program, self.gpu, self.uuid)
        check_library(self.table, "idle", self.program, self.gpu, self.uuid)
        text = self.program.run("status").stdout
        rows = self.program.rows()
        missing = [gpu for gpu, row in rows.items() if row["status"] not in row_of(text, gpu)]
        self.table.check("idle: status prints a row for each GPU", not missing, row_of(text, missing[0] if missing else self.gpu))

    def unreserved(self):
        holder = Holder(self.work, HELD_MIB, environment={"CUDA_VISIBLE_DEVICES": self.uuid})
        try:
            began = time.monotonic()
            row = self.program.rows()[self.gpu]
            users = row.get("unreserved_users")
            words = f"{row['status']}, {users}, {row.get('process_info')}, after {time.monotonic() - began:.1f} s"
            self.table.check("unreserved: the first scan names the user", row["status"] == "UNRESERVED" and users == [self.me], words)
            named = str(holder.pid) in row.get("process_info", "")
            self.table.check("unreserved: status names the process", named, row.get("process_info"))
            check_status(self.table, "unreserved", self.program, self.gpu)
            check_processes(self.table, "unreserved", self.program, self.gpu, self.uuid, holder.pid)
            check_library(self.table, "unreserved", self.program, self.gpu, self.uuid)
            for words in (["reserve", "--gpu-ids", str(self.gpu)], ["run", "--gpu-ids", str(self.gpu)], ["run", "--gpus", str(len(self.before))]):
                command = ["--", "true"] if words[0] == "run" else []
                answers = [self.program.run(*words, "--nonblock", *command) for _ in range(2)]
                refused = all(answer.returncode == 3 for answer in answers)
                self.table.check(f"unreserved: {' '.join(words)} is refused", refused, answers[0].stderr or answers[0].stdout)
            self.table.check("unreserved: the GPU was not granted", self.program.state(self.gpu) == "UNRESERVED", self.program.state(self.gpu))
        finally:
            holder.end()
        took = self.program.becomes(self.gpu, "AVAILABLE", 20)
        self.table.check("unreserved: free after the process has ended", took is not None, f"after {took or 20:.1f} s")

    def start_job(self, *flags):
        return Holder(self.work, HELD_MIB, [self.binary, "run", "--gpu-ids", str(self.gpu), "--nonblock", *flags, "--"])

    def run(self):
        """Checks one job that runs until its second heartbeat. The slow checks run in the meantime."""
        job = self.start_job()
        began = time.monotonic()
        try:
            sees = f"{job.seen['count']} GPU, CUDA_VISIBLE_DEVICES={job.seen['visible']}"
            self.table.check("run: the job sees only its GPU", job.seen["count"] == 1 and job.seen["visible"] == str(self.gpu), sees)
            used = smi_processes(self.uuid)
            self.table.check("run: nvidia-smi shows the job on its GPU", job.pid in used, f"PID {job.pid}; {used}")
            row = self.program.rows()[self.gpu]
            first = row.get("last_heartbeat")
            held = (row["status"], row.get("actual_user"), row.get("type"))
            self.table.check("run: status names the user of the GPU", held == ("IN_USE", self.me, "RUN"), f"{held}, heartbeat {first}")
            check_status(self.table, "run", self.program, self.gpu)
            check_processes(self.table, "run", self.program, self.gpu, self.uuid, job.pid)
            once = self.program.run("top", "--once")
            shown = row_of(once.stdout, self.gpu)
            self.table.check("top --once: shows the GPU in use", once.returncode == 0 and "IN_USE" in shown, shown)
            watch_monitor(self.table, self.binary, self.gpu, 10)
            refused = self.program.run("reserve", "--gpu-ids", str(self.gpu), "--nonblock")
            self.table.check("run: the GPU is not granted twice", refused.returncode == 3, refused.stderr)
            left = HEARTBEAT_SECONDS - (time.monotonic() - began)
            later = until(lambda: (now := self.program.rows()[self.gpu].get("last_heartbeat")) != first and now, left, 2)
            self.table.check("run: sends a second heartbeat", bool(later), f"{first}, then {later} ({time.monotonic() - began:.0f} s)")
        finally:
            code = job.end()
        took = self.program.becomes(self.gpu, "AVAILABLE", 20)
        self.table.check("run: the GPU is free after the job's exit", code == 0 and took is not None, f"exit code {code}, free after {took or 20:.1f} s")
        seven = self.program.run("run", "--gpu-ids", str(self.gpu), "--nonblock", "--", "sh", "-c", "exit 7")
        self.table.check("run: exits with the exit code of the job", seven.returncode == 7, f"exit code {seven.returncode}")

    def killed_job(self):
        job = self.start_job()
        job.kill(job.pid)
        code = job.wait()
        took = self.program.becomes(self.gpu, "AVAILABLE", 20)
        self.table.check("SIGKILL of the job: the GPU is released", code == 137 and took is not None, f"exit code {code}, free after {took or 20:.1f} s")

    def killed_wrapper(self):
        job = self.start_job()
        try:
            job.kill(job.process.pid)
            job.wait()
            state = self.program.state(self.gpu)
            self.table.check("SIGKILL of run: the job keeps its GPU", is_alive(job.pid) and state == "IN_USE", f"{state}, PID {job.pid}")
        finally:
            job.end()
        until(lambda: not is_alive(job.pid), 20)
        took = self.program.becomes(self.gpu, "AVAILABLE", 20)
        self.table.check("SIGKILL of run: free after the job has ended", took is not None, f"free after {took or 20:.1f} s")

    def isolated(self):
        tried = self.program.run("run", "--isolate=require", "--gpu-ids", str(self.gpu), "--nonblock", "--", "true")
        if tried.returncode != 0:
            free = self.program.becomes(self.gpu, "AVAILABLE", 20) is not None
            honest = tried.returncode == 1 and "cannot be isolated" in tried.stderr and free
            self.table.check("run --isolate=require: fails with the reason", honest, tried.stderr)
            self.table.skip("run --isolate: the job uses its GPU", "this machine cannot isolate jobs: see the line above")
            return
        job = self.start_job("--isolate=require")
        try:
            self.table.check("run --isolate: the job uses its GPU", job.seen["count"] == 1, f"{job.seen['count']} GPU, {job.seen['visible']}")
            row = self.program.rows()[self.gpu]
            self.table.check("run --isolate: status names the user", row["status"] == "IN_USE", f"{row['status']} {row.get('actual_user')}")
        finally:
            code = job.end()
        took = self.program.becomes(self.gpu, "AVAILABLE", 20)
        self.table.check("run --isolate: the GPU is free after exit", code == 0 and took is not None, f"exit code {code}")

    def mig(self):
        """Checks GPUs that are already in MIG mode. Never changes the MIG mode, which is a setting of the GPU."""
        if not self.split:
            self.table.skip("MIG", "no GPU is in MIG mode, and the checks change no setting of a GPU")
            return
        rows, listed = self.program.rows(), smi_list()
        for gpu in self.split:
            found = [part.get("uuid") for part in rows[gpu].get("mig_instances", [])]
            self.table.check(f"MIG: status lists the instances of GPU {gpu}", found == listed.get(gpu, []), f"{found}; nvidia-smi {listed.get(gpu)}")
        gpu = next((gpu for gpu in self.split if listed.get(gpu) and rows[gpu]["status"] == "AVAILABLE"), None)
        if gpu is None:
            self.table.skip("MIG: run on an instance", "no instance is idle")
            return
        job = Holder(self.work, 1024, [self.binary, "run", "--gpu-ids", f"{gpu}:0", "--nonblock", "--"])
        try:
            sees = f"{job.seen['count']} device, {job.seen['visible']}"
            self.table.check("MIG: the job sees only its instance", job.seen["count"] == 1 and job.seen["visible"] == listed[gpu][0], sees)
        finally:
            code = job.end()
        took = self.program.becomes(gpu, "AVAILABLE", 20)
        self.table.check("MIG: the instance is free after exit", code == 0 and took is not None, f"exit code {code}")

    def leftovers(self):
        after = by_index(smi_table("gpu", ["index", "uuid", "memory.used"]))
        same = until(lambda: not smi_processes(self.uuid), 10)
        memory = f"{self.before[self.gpu]['memory.used']} MiB before, {after[self.gpu]['memory.used']} after"
        held = [gpu for gpu, row in self.program.rows().items() if row["status"] == "IN_USE"]
        self.table.check("nothing is left on the GPU or in the pool", same and not held, f"{memory}; held: {held}")

    def all(self, wanted):
        self.table.group("pool", self.make_pool)
        groups = {"mig": self.mig}
        if self.gpu is not None:
            groups = {
                "idle": self.idle,
                "unreserved": self.unreserved,
                "run": self.run,
                "killed-job": self.killed_job,
                "killed-wrapper": self.killed_wrapper,
                "isolated": self.isolated,
                **groups,
                "leftovers": self.leftovers,
            }
        for name, run in groups.items():
            if not wanted or name in wanted:
                self.table.group(name, run)
        return self.table.close()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sys.stdout.reconfigure(errors="replace")
sys.exit(Checks(sys.argv[1], sys.argv[2]).all(sys.argv[3:]))
