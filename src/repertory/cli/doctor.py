"""`repertory doctor`: what this machine has and lacks, and what to do about it."""

import asyncio
from dataclasses import asdict

import typer
from rich.table import Table
from rich.text import Text

from repertory.cli.engine_choice import ApiKeyOption, EngineUrlOption, ModelOption
from repertory.cli.output import JsonOption, emit_json, screen

__all__ = ("register",)

_MARK = {"ok": ("ok", "green"), "warn": ("note", "yellow"), "fail": ("FAIL", "red")}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("doctor")
    def doctor(
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Look at devices, engines, models, sandbox, ports and disk; say what to do about each.

        With --engine-url the engine there is probed: what it enforces, counts, shares and cancels. Exit code 1 when
        something is missing that nothing works without.
        """
        if not asyncio.run(_doctor(engine_url, model, engine_key, as_json=as_json)):
            raise typer.Exit(1)


async def _doctor(url: str | None, model: str | None, api_key: str | None, *, as_json: bool) -> bool:
    from repertory.cli.doctor_checks import CHECKS, check_engine_at
    from repertory.cli.safe_text import printable
    from repertory.home import locate_home

    home = locate_home()
    findings = [finding for check in CHECKS for finding in await check(home)]
    if url is not None:
        findings += await check_engine_at(url, model, api_key)
    ok = all(finding.status != "fail" for finding in findings)
    if as_json:
        emit_json({"ok": ok, "checks": [asdict(finding) for finding in findings]})
        return ok
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        word, style = _MARK[finding.status]
        detail = printable(finding.detail) + (f"\n-> {printable(finding.fix)}" if finding.fix else "")
        table.add_row(Text(word, style=style), Text(printable(finding.name)), Text(detail))
    screen().print(table)
    return ok
