"""Acceptance tests: Python that the team never sees, run against the code in the sandbox.

A test source uses `tool(name)`, `raises(function, *arguments, exc=ValueError)` and `tmpdir()`, and passes when it runs
to its end.
"""

from repertory.sandbox import FunctionCall, Job, Limits, Sandbox

__all__ = ("accept",)

_HARNESS = """
import importlib, tempfile

def raises(function, *arguments, exc=ValueError, **named):
    try:
        function(*arguments, **named)
    except exc:
        return True
    raise AssertionError("nothing was raised")

def run(tests):
    tools = importlib.import_module("tools")
    scope = {"tool": lambda name: getattr(tools, name), "raises": raises, "tmpdir": tempfile.mkdtemp}
    exec(compile(tests, "tests", "exec"), scope)
    return True
"""


def accept(sandbox: Sandbox, source: str, tests: str) -> str | None:
    """What an acceptance test found wrong with a source, in one line; None when it passes."""
    job = Job(
        {"tools.py": source, "acceptance.py": _HARNESS},
        FunctionCall("acceptance", "run", {"tests": tests}),
        Limits(wall_s=60, cpu_s=60),
    )
    outcome = sandbox.run(job)
    if outcome.ok and outcome.value is True:
        return None
    if outcome.failure is None:
        return outcome.ended
    where = outcome.failure.traceback.strip().splitlines()[-1:] or [""]
    return f"{outcome.failure.type}: {outcome.failure.message} {where[0].strip()}".strip()[:300]
