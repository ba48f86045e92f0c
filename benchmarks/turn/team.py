"""The measured team, as one declares it in Repertory."""

from typing import Any

from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team

__all__ = ("team_of",)


def team_of(work: dict[str, Any]) -> Team:
    """The team of `make_work`."""
    others = [agent["name"] for agent in work["agents"] if agent["name"] != "synth"]
    return Team(
        name="measured",
        preamble=f"{work['task']}\n\nWhat is known of the person:\n{work['memory']}",
        sections={
            agent["name"]: Section(text=agent["schema"] is None, json_schema=agent["schema"])
            for agent in work["agents"]
        },
        agents={
            agent["name"]: Agent(
                instructions=agent["instructions"],
                writes=agent["name"],
                reads={name: Read(mode=ReadMode.FRESH) for name in others} if agent["name"] == "synth" else {},
                max_output_tokens=work["max_tokens"],
            )
            for agent in work["agents"]
        },
        replies=Replies(first="coach", full="synth"),
        deadline_s=3600,
    )
