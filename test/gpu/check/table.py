"""The table of checks. Each line is printed as soon as its result is known."""
import time

# No check starts after this time, so that all of them take less than 4 minutes.
LIMIT_SECONDS = 220


class Table:
    def __init__(self):
        self.began = time.monotonic()
        self.counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        print(f"{'':4}  {'CHECK':44}  SEEN", flush=True)

    def seconds(self):
        return time.monotonic() - self.began

    def line(self, verdict, name, seen):
        self.counts[verdict] += 1
        words = " ".join(str(seen).split())
        print(f"{verdict}  {name:44}  {words[:400]}", flush=True)

    def check(self, name, passed, seen):
        self.line("PASS" if passed else "FAIL", name, seen)
        return passed

    def skip(self, name, why):
        self.line("SKIP", name, why)

    def group(self, name, run):
        """Runs several checks. An exception counts as a failed check, and the next group still runs."""
        if self.seconds() > LIMIT_SECONDS:
            self.check(name, False, f"not started, because the time limit of {LIMIT_SECONDS} s is over")
            return
        try:
            run()
        except Exception as error:  # noqa: BLE001 - a check that breaks is a check that failed
            self.check(name, False, f"{type(error).__name__}: {error}")

    def close(self):
        """Prints the number of results, and returns the exit code."""
        passed, failed, skipped = (self.counts[verdict] for verdict in ("PASS", "FAIL", "SKIP"))
        print(f"{passed} passed, {failed} failed, {skipped} skipped, in {self.seconds():.0f} s", flush=True)
        return 0 if failed == 0 and passed > 0 else 1
