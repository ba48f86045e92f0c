"""What the Tester is asked for: asserts, in a form that code models know."""

from repertory.teams.engineering.contract import Contract

__all__ = ("testing_task",)

_LINES = 8


def testing_task(contract: Contract) -> str:
    """The form of the answer, with the names of this contract."""
    names = ", ".join(contract.tool_names)
    first = contract.tools[0].name
    refusals = f"\nassert raises(ValueError, {first}, ...)" if contract.refuses_with_value_error else ""
    return (
        f"# Form\nAt most {_LINES} lines in one Python code block, each an assert that calls {names}, such as:\n"
        f"assert {first}(...) == ...{refusals}\n"
        "Use literal arguments by position. No imports, no functions of your own, no comments."
    )
