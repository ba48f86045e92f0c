"""OR-Tools' CP-SAT, imported when a plan is made, and set up so that the same question gets the same answer."""

import importlib
from types import ModuleType
from typing import Any

from repertory.errors import UsageError

__all__ = ("new_solver", "solver_module")


def solver_module() -> ModuleType:
    """The CP-SAT module.

    Raises:
        UsageError: OR-Tools is not installed.
    """
    try:
        return importlib.import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        raise UsageError(
            "Plans are solved by OR-Tools, which is not installed.", hint="pip install 'repertory[plan]'"
        ) from error


def new_solver(limit_s: float, *, workers: int = 1) -> Any:
    """A solver with a fixed seed. More than one worker is only for large instances, and deterministic too."""
    solver = solver_module().CpSolver()
    solver.parameters.max_time_in_seconds = limit_s
    solver.parameters.random_seed = 1
    solver.parameters.num_workers = workers
    solver.parameters.linearization_level = 2
    if workers > 1:
        solver.parameters.interleave_search = True  # several strategies in a fixed order
    return solver
