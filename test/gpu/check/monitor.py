"""Runs the monitor in its own terminal for some seconds, and quits it with a key."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"


def read_for(terminal, seconds, until=None):
    """Reads for this many seconds, or until the data contains `until`. Returns the data."""
    data, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not (until and until in data):
        if select.select([terminal], [], [], min(left, 0.2))[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:
                break
            if not more:
                break
            data += more
    return data


def without_colours(data):
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", data)


def watch_monitor(table, binary, gpu, seconds):
    terminal, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    settings = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [binary, "top"], stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env={**os.environ, "TERM": "xterm-256color"}
    )
    try:
        began = time.monotonic()
        first = read_for(terminal, 20, b"LIVE")
        table.check("top: shows live GPUs", ENTER_SCREEN in first and b"LIVE" in first, f"LIVE after {time.monotonic() - began:.1f} s")
        early = read_for(terminal, seconds - 3)
        late = read_for(terminal, 3)
        is_here = process.poll() is None
        table.check(f"top: runs for {seconds} s", is_here and len(late) > 0, f"{len(early)} bytes, then {len(late)} in the last 3 s")
        row = re.search(rb"\b%d +Mine +[A-Za-z][^\r\n]*" % gpu, without_colours(first + early + late))
        table.check("top: shows the GPU of the job as Mine", row is not None, row.group().decode() if row else "no such row")
        os.write(terminal, b"q")
        last = read_for(terminal, 10, LEAVE_SCREEN)
        code = process.wait(10)
        restored = termios.tcgetattr(slave) == settings
        table.check(
            "top: q quits and restores the terminal",
            code == 0 and LEAVE_SCREEN in last and restored,
            f"exit code {code}, settings {'as before' if restored else 'changed'}",
        )
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(slave)
