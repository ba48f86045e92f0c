"""Write docs/turn-benchmark.md and its charts from the kept results: `python -m docs.turn_benchmark`.

`--check` only compares. Only full runs are shown; without one there is no page.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

__all__ = ("chart", "load_results", "render")

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
PAGE = Path(__file__).with_name("turn-benchmark.md")
IMAGES = Path(__file__).parent / "images"
_OURS = "repertory"
_NOTE = "<!-- Written by `python -m docs.turn_benchmark` from benchmarks/results; do not edit. -->\n\n"
_HEAD = """# One turn, measured

The same six agents with the same messages, JSON Schemas and output lengths, played by Repertory and by what one would
write with other tools as their own documentation shows it: a sequential pipeline with an HTTP client, LangGraph,
Pydantic AI with `asyncio.gather`, and Agno's workflow. All of them ran on one engine in one run, one session after the
other, and no two began their prompts with the same words.

* Everybody goes through one recording proxy, which makes the answers equally long: free text has {tokens} tokens, and
  structured answers follow the same schemas without white space and with the same values. Nobody is quicker by saying
  less, and what the agents find is no part of the measurement.
* *Prefilled* is what the engine says it computed; *unique* is what the driver's own prompts hold that no earlier prompt
  of the session began with, counted by the engine's tokenizer. Who puts the role before what all share has more of it.
* *Own overhead* is the time of the turn in which no generation was at the engine. Repertory's holds counting tokens,
  copying slots and writing the turn to disk; the others keep nothing.
* The first token of the naive pipeline is that of a lone request on an idle engine.

`python -m benchmarks.turn` repeats it.

"""


def load_results(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The results of full runs."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("turn_*.json"))]
    return [one for one in found if not one["result"]["quick"]]


def render(results: Sequence[Mapping[str, Any]]) -> str:
    """The page."""
    tokens = results[0]["result"]["tokens_of_a_free_text"]
    return _NOTE + _HEAD.format(tokens=tokens) + "\n".join(_part(one) for one in results)


def _name(one: Mapping[str, Any]) -> str:
    engine = one["result"]["engine"]
    return f"{engine['kind'].replace('.', '')}-{engine['model']}"


def _part(one: Mapping[str, Any]) -> str:
    result, machine = one["result"], one["machine"]
    engine = result["engine"]
    lines = [
        f"## {engine['model']} on {engine['kind']}",
        "",
        f"![Time to the full reply](images/turn-{_name(one)}.svg)",
        "",
        "| context | turn | | first token | Coach | full reply | prefilled | of unique | written | overhead | memory |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    turns = {item["turn"] for item in result["summary"]}
    shown = [item for item in result["summary"] if item["turn"] in {min(turns), max(turns)}]
    lines += [
        f"| {item['context_tokens']:,} | {item['turn']} | {_bold(item)} | {_seconds(item['first_token_s'])} "
        f"| {_seconds(item['coach_s'])} | {_seconds(item['reply_s'])} "
        f"| {item['prefilled_tokens']:,.0f} | {item['prefilled_to_unique']:.2f} | {item['generated_tokens']:.0f} "
        f"| {1000 * item['own_overhead_s']:.0f} ms | {item['peak_mib']:.0f} MiB |"
        for item in shown
    ]
    versions = {row["driver"]: row["version"] for row in result["rows"] if row.get("version")}
    told = ", ".join(f"{driver} {version}" for driver, version in sorted(versions.items()))
    runs = max(item["runs"] for item in shown)
    lines += [
        "",
        (
            f"Medians of {runs} session{'s' if runs > 1 else ''} each. {machine['cpu']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB; {engine['version']}; {told}. Measured {one['measured_at'][:10]}."
        ),
        "",
    ]
    return "\n".join(lines)


def _bold(item: Mapping[str, Any]) -> str:
    return f"**{item['driver']}**" if item["driver"] == _OURS else str(item["driver"])


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


_WIDTH, _LEFT, _BAR, _GAP, _HEADING = 760, 130, 18, 5, 34
_MARGIN = 90


def chart(one: Mapping[str, Any]) -> str:
    """Bars of the time to the full reply, by context and turn, as SVG."""
    groups: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for item in one["result"]["summary"]:
        if item["reply_s"] is not None:
            groups.setdefault((item["context_tokens"], item["turn"]), []).append(item)
    turns = {turn for _, turn in groups}
    groups = {key: items for key, items in groups.items() if key[1] in {min(turns), max(turns)}}
    longest = max(item["reply_s"] for items in groups.values() for item in items)
    parts: list[str] = []
    y = 0
    for (context, turn), items in groups.items():
        y += _HEADING
        title = f"{context:,} tokens of context, turn {turn}"
        parts.append(f'<text class="head" x="0" y="{y - 10}">{title}</text>')
        for item in sorted(items, key=lambda item: item["reply_s"]):
            width = max(1.0, (_WIDTH - _LEFT - _MARGIN) * item["reply_s"] / longest)
            kind = "ours" if item["driver"] == _OURS else "other"
            base = y + _BAR - 5
            parts += [
                f'<text x="{_LEFT - 8}" y="{base}" text-anchor="end">{escape(item["driver"])}</text>',
                f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="2"/>',
                f'<text x="{_LEFT + width + 6:.1f}" y="{base}">{_seconds(item["reply_s"])}</text>',
            ]
            y += _BAR + _GAP
    style = (
        "text{font:13px sans-serif;fill:#57606a}.head{font-weight:600}"
        ".ours{fill:#2f81f7}.other{fill:#afb8c1}"
        "@media(prefers-color-scheme:dark){text{fill:#adbac7}.other{fill:#545d68}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 6}" role="img" '
        f'aria-label="Time to the full reply">\n<style>{style}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def files() -> dict[Path, str]:
    """What should be there, by path."""
    results = load_results()
    if not results:
        return {}
    return {PAGE: render(results)} | {IMAGES / f"turn-{_name(one)}.svg": chart(one) for one in results}


def main() -> None:
    wanted = files()
    if "--check" in sys.argv:
        if old := [path.name for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]:
            sys.exit(f"out of date: {', '.join(old)}; run `make docs`")
        return
    if not wanted:
        print("there is no result of a full run: python -m benchmarks.turn", file=sys.stderr)
    for path, text in wanted.items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
