"""`make bench`: every benchmark that needs no GPU, one after the other."""

import subprocess
import sys

SCRIPTS = ("import_time", "structured_calls", "coaching_turns")


def run(name: str) -> int:
    return subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode


def main() -> None:
    failed = [name for name in SCRIPTS if run(name) != 0]
    print(f"{len(SCRIPTS) - len(failed)} of {len(SCRIPTS)} benchmarks met their limits")
    if failed:
        sys.exit(f"not: {', '.join(failed)}")


if __name__ == "__main__":
    main()
