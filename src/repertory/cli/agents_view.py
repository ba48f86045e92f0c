"""What `repertory agents` shows, and the arguments it reads."""

import json
import sys
from collections.abc import Sequence
from typing import Any, cast

from rich.table import Column, Table
from rich.text import Text

from repertory.cli.output import screen
from repertory.cli.safe_text import printable
from repertory.errors import UsageError

__all__ = ("agents_table", "history_table", "print_agent", "read_arguments")


def read_arguments(text: str) -> dict[str, Any]:
    """Read the arguments of a tool.

    Raises:
        UsageError: They are not a JSON object.
    """
    try:
        arguments = json.loads(sys.stdin.read() if text == "-" else text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        message = f"the arguments are not JSON: {error}"
        raise UsageError(message, hint="""write --args '{"name": "value"}'""") from None
    if not isinstance(arguments, dict):
        raise UsageError("the arguments are not a JSON object", hint="""write --args '{"name": "value"}'""")
    return cast("dict[str, Any]", arguments)


def _refuse(word: str) -> None:
    message = f"{word} is no JSON number"
    raise ValueError(message)


def agents_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The list of agents."""
    table = Table("agent", "live", "canary", "tools", Column("purpose", overflow="fold"), box=None, pad_edge=False)
    for row in rows:
        about = Text(f"broken: {row['problem']}", "red") if row["problem"] else _text(row["purpose"] or "")
        table.add_row(row["name"], row["live"] or "-", row["canary"] or "-", _text(", ".join(row["tools"])), about)
    return table


def print_agent(document: dict[str, Any]) -> None:
    """The same in words."""
    out = screen()
    out.print(f"{document['agent']} ({document['state']})", style="bold", markup=False)
    out.print(_text(document["purpose"]))
    for tool in document["tools"]:
        arguments = ", ".join(tool["input_schema"].get("properties", {}))
        out.print(_text(f"  {tool['name']}({arguments}): {tool['description']}"))
    permissions = document["permissions"]
    routes = [f"{route['method']} {route['path']}" for route in permissions["http"]]
    granted = [*(["its own state"] if permissions["state"] else []), *routes]
    out.print(_text(f"permissions: {', '.join(granted) or 'none'}"))
    for assumption in document["assumptions"]:
        out.print(_text(f"assumed: {assumption}"))
    listed = ", ".join(f"{one['agent']} {one['state']}" for one in document["versions"])
    out.print(_text(f"versions: {listed}"))
    for version, numbers in document["watch"]["versions"].items():
        beside = f", agreed in {numbers['agreeing']} of {numbers['compared']}" if numbers["compared"] else ""
        told = f"{numbers['calls']} calls, {numbers['errors']} errors, {numbers['refused']} refused"
        out.print(_text(f"  version {version}: {told}, {numbers['p50_s']} s (median){beside}"))
    for repair in document["watch"]["repairs"]:
        out.print(_text(f"repair {repair['id']} of {repair['agent']} is {repair['state']}: {repair['reason']}"))
    out.print(f"digest {document['digest']}, signed by {document['signed_by']}", markup=False)


def history_table(events: Sequence[dict[str, Any]]) -> Table:
    """A history, one line for each entry."""
    table = Table("when", "agent", "what", Column("detail", overflow="fold"), box=None, pad_edge=False)
    for event in events:
        detail = ", ".join(f"{name} {value}" for name, value in event["detail"].items())
        table.add_row(event["at"][:19], event["agent"], event["what"], _text(detail))
    return table


def _text(words: str) -> Text:
    """Words of a package, which a model or a stranger wrote."""
    return Text(printable(words, one_line=True))
