"""Runs nvidia-smi, the program, and processes that hold GPU memory."""
import json
import os
import pwd
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent

# A command that takes longer counts as hanging.
PATIENCE_SECONDS = 45


def until(condition, seconds, every=0.2):
    """Returns the first true value of the condition, or its last value at the end of the time."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(every)


def smi_table(query, fields):
    """Returns the rows that nvidia-smi prints, each as a dictionary by field."""
    words = ["nvidia-smi", f"--query-{query}={','.join(fields)}", "--format=csv,noheader,nounits"]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    lines = [line for line in answer.stdout.splitlines() if line.count(",") == len(fields) - 1]
    return [dict(zip(fields, (cell.strip() for cell in line.split(",")))) for line in lines]


def smi_list():
    """Returns the UUIDs of the MIG instances of each GPU, as `nvidia-smi -L` lists them."""
    answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    instances = {}
    for line in answer.stdout.splitlines():
        gpu, part = re.match(r"GPU (\d+):", line), re.search(r"\(UUID: (MIG-[^)]+)\)", line)
        if gpu:
            current = instances.setdefault(int(gpu.group(1)), [])
        elif part:
            current.append(part.group(1))
    return instances


def smi_processes(uuid):
    """Returns the memory in MiB of each process on a GPU by PID, as nvidia-smi lists it."""
    rows = smi_table("compute-apps", ["gpu_uuid", "pid", "used_gpu_memory"])
    return {int(row["pid"]): number(row["used_gpu_memory"]) for row in rows if row["gpu_uuid"] == uuid and row["pid"].isdigit()}


def number(text):
    """Returns a number, or None for a word such as [N/A]."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def row_of(text, gpu):
    """Returns the line of a GPU in the table that `status` prints."""
    lines = [line for line in text.splitlines() if re.match(rf"\s*{gpu}\s*[│|]", line)]
    return lines[0] if lines else ""


def owner_of(pid):
    return pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name


def is_alive(pid):
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Holder:
    """A process that holds GPU memory with PyTorch, started by itself or by `run`."""

    def __init__(self, work, mib, before=(), environment=None):
        self.note = Path(work, f"note-{time.monotonic_ns()}")
        self.errors = open(f"{self.note}.errors", "w+")
        words = [*before, sys.executable, str(HERE / "hold.py"), str(mib), str(self.note)]
        self.process = subprocess.Popen(
            words, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors
        )
        self.seen = {}
        if not until(lambda: self.note.exists() or self.process.poll() is not None, 60, 0.05) or not self.note.exists():
            self.end()
            raise RuntimeError(f"the process got no GPU memory: {self.said()}")
        self.seen = json.loads(self.note.read_text())

    def said(self):
        self.errors.seek(0)
        return self.errors.read()[-300:]

    @property
    def pid(self):
        """The PID of the process that holds the memory."""
        return self.seen["pid"]

    def end(self):
        """Lets the process end by itself. Returns the exit code of the started command."""
        Path(f"{self.note}.stop").touch()
        return self.wait()

    def kill(self, pid, sign=signal.SIGKILL):
        os.kill(pid, sign)

    def wait(self):
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(20)


class Program:
    def __init__(self, binary):
        self.binary = binary

    def run(self, *words, seconds=PATIENCE_SECONDS):
        return subprocess.run([self.binary, *words], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)

    def rows(self):
        """Returns the rows of `status --json`, by GPU."""
        answer = self.run("status", "--json")
        if answer.returncode != 0:
            raise RuntimeError(f"status --json: exit code {answer.returncode}: {answer.stderr}")
        return {row["gpu_id"]: row for row in json.loads(answer.stdout)}

    def state(self, gpu):
        return self.rows()[gpu]["status"]

    def becomes(self, gpu, state, seconds):
        """Waits until a GPU is in a state. Returns how many seconds that took, or None at the end of the time."""
        began = time.monotonic()
        return time.monotonic() - began if until(lambda: self.state(gpu) == state, seconds) else None

    def library_scan(self):
        """Returns one scan by NVML: the readings by GPU, and the memory in MiB of each process by UUID and PID."""
        process = subprocess.Popen(
            [self.binary, "--nvml-scans", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            select.select([process.stdout], [], [], 20)
            if not select.select([process.stdout], [], [], 0)[0]:
                raise RuntimeError("NVML returned no scan within 20 s")
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"no scan by NVML: {process.stderr.read().decode()}")
        finally:
            process.kill()
            process.wait()
        scan = json.loads(line)
        processes = {uuid: {row["pid"]: row.get("memoryUsedMiB") for row in rows} for uuid, rows in scan["byGpu"]}
        return {gpu["index"]: gpu for gpu in scan["gpus"]}, processes
