"""Claim: `import repertory` costs under 150 ms of CPU more than `python -c pass`.

Run: `python -m benchmarks.import_time`
"""

import resource
import statistics
import subprocess
import sys

from benchmarks.machine import write_result

LIMIT_MS = 150.0
ROUNDS = 15


def cpu_ms(code: str) -> float:
    """User plus system CPU of one interpreter run, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> None:
    pairs = [(cpu_ms("pass"), cpu_ms("import repertory")) for _ in range(ROUNDS)]
    bare = statistics.median(pair[0] for pair in pairs)
    extra = statistics.median(pair[1] - pair[0] for pair in pairs)
    print(f"python -c pass: {bare:.1f} ms; import repertory: {extra:+.1f} ms (limit {LIMIT_MS:.0f} ms)")
    write_result("import_time", {"bare_ms": bare, "extra_ms": extra, "limit_ms": LIMIT_MS, "rounds": ROUNDS})
    if extra > LIMIT_MS:
        sys.exit(1)


if __name__ == "__main__":
    main()
