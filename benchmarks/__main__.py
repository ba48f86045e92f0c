"""`make bench`: every benchmark that needs no GPU, one after the other, the short form of those that can run for long.

`python -m benchmarks NAME ...` runs single ones; `--long` gives each the length that its claim is about.
"""

import argparse
import subprocess
import sys

SCRIPTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "import_time": ((), ()),
    "fuzz_streams": (("--seconds", "20"), ("--seconds", "600")),
    "stream_load": (("--streams", "1000"), ("--streams", "10000")),
    "chaos_turns": (("--turns", "30"), ("--turns", "300")),
    "structured_calls": (("--calls", "100"), ("--calls", "1000")),
    "coaching_turns": ((), ()),
    "odd_messages": ((), ()),
    "harness": (("--turns", "1"), ("--turns", "20")),
    "returning_sessions": (("--quick",), ()),
    "swap": (("--quick",), ()),
    "panel_load": ((), ()),
    "concurrent_sessions": (("--seconds", "20"), ("--seconds", "120")),
}
"""Each benchmark with the arguments of its short and of its long form."""


def run(name: str, *, long: bool) -> int:
    return subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *SCRIPTS[name][long]], check=False).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCRIPTS)}; none means all")
    parser.add_argument("--long", action="store_true", help="run what the claims are about, for up to an hour")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SCRIPTS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    names = options.names or list(SCRIPTS)
    failed = [name for name in names if run(name, long=options.long) != 0]
    print(f"{len(names) - len(failed)} of {len(names)} benchmarks met their limits")
    if failed:
        sys.exit(f"not: {', '.join(failed)}")


if __name__ == "__main__":
    main()
