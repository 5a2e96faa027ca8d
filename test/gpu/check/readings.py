"""Compares the readings of `status` and of NVML, as the program reads it, with those of nvidia-smi."""
from tools import number, owner_of, smi_processes, smi_table

IDENTITY = ["index", "uuid", "pci.bus_id", "name"]

# Field of nvidia-smi, key of `status --json`, and the allowed difference, because a reading changes between two scans.
STATUS_FIELDS = [
    ("memory.used", "memory_used_mb", 64),
    ("memory.total", "memory_total_mb", 0),
    ("utilization.gpu", "utilization", 15),
    ("temperature.gpu", "temperature", 3),
    ("power.draw", "power_w", 40),
]

# Field of nvidia-smi, key of the NVML scan, and the allowed difference.
LIBRARY_FIELDS = [
    ("memory.used", "memoryUsedMiB", 64),
    ("memory.total", "memoryTotalMiB", 1),
    ("memory.reserved", "memoryReservedMiB", 16),
    ("utilization.gpu", "utilizationPercent", 15),
    ("utilization.memory", "memoryUtilizationPercent", 15),
    ("temperature.gpu", "temperatureCelsius", 3),
    ("power.draw", "powerWatts", 40),
    ("power.limit", "powerLimitWatts", 1),
    ("fan.speed", "fanPercent", 5),
    ("clocks.current.sm", "smClockMHz", 400),
    ("clocks.current.memory", "memoryClockMHz", 400),
    ("ecc.errors.uncorrected.volatile.total", "eccUncorrectedErrors", 0),
]

LIBRARY_TEXTS = [("uuid", "uuid"), ("pci.bus_id", "pciBusId"), ("name", "name"), ("compute_cap", "computeCapability")]


def by_index(rows):
    return {int(row["index"]): row for row in rows}


# Clocks and power change for some seconds after a process has started or ended.
ATTEMPTS = 3


def look_between(names, fields, look):
    """
    Reads between two runs of nvidia-smi, and tries again if a reading disagrees. Returns the first run by GPU, the readings by GPU, the second run, and
    what else was read.
    """
    for _ in range(ATTEMPTS):
        before = by_index(smi_table("gpu", ["index", *names]))
        readings, more = look()
        after = by_index(smi_table("gpu", ["index", *names]))
        if not any(differing(field, key, slack, before, readings, after) for field, key, slack in fields):
            break
    return before, readings, after, more


def differing(field, key, slack, before, readings, after):
    """Returns the GPUs of which a reading disagrees."""
    return [gpu for gpu in before if not agrees(readings.get(gpu, {}).get(key), before[gpu][field], after[gpu][field], slack)]


def agrees(value, first, second, slack):
    """Whether a value lies between two readings of nvidia-smi, or none of them is known."""
    known = [one for one in (number(first), number(second)) if one is not None]
    if value is None or not known:
        return value is None and not known
    return min(known) - slack <= value <= max(known) + slack


def compare(table, label, gpu, fields, source, before, seen, after):
    """Adds a check for each field, which covers all GPUs. The table shows the values of one GPU."""
    for field, key, slack in fields:
        bad = differing(field, key, slack, before, seen, after)
        shown = bad[0] if bad else gpu
        words = f"GPU {shown}: {seen.get(shown, {}).get(key)}; nvidia-smi {before[shown][field]}, then {after[shown][field]}"
        table.check(f"{label}: {source} {field}", not bad, words)


def check_identity(table, program):
    listed = by_index(smi_table("gpu", IDENTITY))
    rows = program.rows()
    pairs = {index: row["uuid"] for index, row in listed.items()}
    table.check(
        "idle: status index and UUID", pairs == {index: row.get("uuid") for index, row in rows.items()}, f"{len(rows)} GPU(s): {pairs}"
    )
    names = {row["name"] for row in listed.values()}
    table.check("idle: status name", names == {row.get("gpu_name") for row in rows.values()}, ", ".join(sorted(names)))


def check_status(table, label, program, gpu):
    names = [field for field, _, _ in STATUS_FIELDS]
    before, rows, after, _ = look_between(names, STATUS_FIELDS, lambda: (program.rows(), None))
    compare(table, label, gpu, STATUS_FIELDS, "status", before, rows, after)


def check_processes(table, label, program, gpu, uuid, holder=None):
    """Compares the processes of one GPU with nvidia-smi, and their owners with /proc. `holder` is the process that the checks have started."""
    rows = program.rows()[gpu].get("processes")
    told = smi_processes(uuid)
    found = None if rows is None else {row["pid"]: row.get("memory_used_mb") for row in rows}
    table.check(f"{label}: status processes", found == told, f"{found}; nvidia-smi {told}")
    if holder is None:
        return
    table.check(f"{label}: nvidia-smi lists the test process", holder in told, f"PID {holder} in {sorted(told)}")
    owners = {row["pid"]: row.get("user") for row in rows or []}
    true_owners = {pid: owner_of(pid) for pid in owners}
    table.check(f"{label}: status owners", holder in owners and owners == true_owners, f"{owners}; /proc {true_owners}")


def check_library(table, label, program, gpu, uuid):
    names = [*(field for field, _ in LIBRARY_TEXTS), "mig.mode.current", *(field for field, _, _ in LIBRARY_FIELDS)]
    before, seen, after, processes = look_between(names, LIBRARY_FIELDS, program.library_scan)
    for field, key in LIBRARY_TEXTS:
        bad = [index for index in before if before[index][field] != seen.get(index, {}).get(key)]
        table.check(f"{label}: NVML {field}", not bad, f"{seen.get(gpu, {}).get(key)}; nvidia-smi {before[gpu][field]}")
    modes = {index: {"Enabled": True, "Disabled": False}.get(row["mig.mode.current"]) for index, row in before.items()}
    found = {index: reading.get("isMigEnabled") for index, reading in seen.items()}
    table.check(f"{label}: NVML mig.mode.current", found == modes, f"{found}; nvidia-smi {modes}")
    compare(table, label, gpu, LIBRARY_FIELDS, "NVML", before, seen, after)
    told = smi_processes(uuid)
    table.check(f"{label}: NVML processes", processes.get(uuid) == told, f"{processes.get(uuid)}; nvidia-smi {told}")
    failures = {index: reading["failure"] for index, reading in seen.items() if reading.get("failure")}
    table.check(f"{label}: NVML reports no failed GPU", not failures, failures or "no failure")
