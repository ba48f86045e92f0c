"""A team with its schedule as one JSON document."""

from collections.abc import Sequence
from typing import Any

from repertory.runtime.schedule import Schedule
from repertory.runtime.team import Team

__all__ = ("team_document",)


def team_document(team: Team, schedule: Schedule, code_sections: Sequence[str] = ()) -> dict[str, Any]:
    """The team and its schedule as one JSON document."""
    sections: dict[str, Any] = {
        name: {"kind": "text" if section.text else "object", "description": section.description, "by": "agent"}
        for name, section in team.sections.items()
    }
    for name in code_sections:
        sections.setdefault(name, {"kind": "object", "description": ""})
        sections[name]["by"] = "code"
    return {
        "team": team.name,
        "description": team.description,
        "replies": team.replies.model_dump(),
        "deadline_s": team.deadline_s,
        "sections": sections,
        "agents": {
            name: {
                "writes": agent.writes,
                "reads": {section: read.model_dump(mode="json") for section, read in agent.reads.items()},
                "max_output_tokens": agent.max_output_tokens,
                "max_input_tokens": agent.max_input_tokens,
                "waits_for": list(schedule.waits_for[name]),
                "step": schedule.stage_of(name) + 1,
                "priority": schedule.priorities[name],
            }
            for name, agent in team.agents.items()
        },
        "schedule": {
            "steps": [list(stage) for stage in schedule.stages],
            "critical_path": list(schedule.critical_path),
        },
    }
