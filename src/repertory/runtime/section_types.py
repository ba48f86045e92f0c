"""The blackboard is typed: nothing is written to a section that its schema does not allow."""

from repertory.engines.schema import validate
from repertory.errors import OutputError
from repertory.runtime.team import Team

__all__ = ("require_typed",)


def require_typed(team: Team, section: str, value: object) -> None:
    """Check a value before it is written.

    Raises:
        OutputError: The section holds text and the value is none, or the value is not valid for the section's schema.
    """
    declared = team.sections[section]
    if declared.text:
        problems = [] if isinstance(value, str) else [f"a text was expected, not {type(value).__name__}"]
    else:
        problems = [problem.message for problem in validate(value, declared.json_schema or {})]
    if problems:
        message = f"the value does not fit the section: {'; '.join(problems[:3])}"
        raise OutputError(message, where=f"section {section}", hint="the team's code must return what the schema says")
