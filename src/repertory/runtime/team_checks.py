"""The rules that hold between the parts of a team: every read has a writer, one writer per section, no cycles.

A problem names its place as a path inside the team; `repertory.runtime.team_file` adds the line of the file.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from repertory.errors import TeamError, TeamProblem
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.schedule import find_cycles, fresh_waits, section_writers
from repertory.runtime.schema_lint import lint_model_schema, lint_stored_schema
from repertory.runtime.team import Agent, OnMissing, Read, ReadMode, Team
from repertory.spelling import nearest, quoted

__all__ = ("check_team", "require_team")


def require_team(team: Team, code_sections: Collection[str] = (), *, context_tokens: int | None = None) -> Team:
    """Return the team, or raise all errors that `check_team` finds in it.

    Raises:
        TeamError: The team has errors; warnings alone do not count.
    """
    problems = check_team(team, code_sections, context_tokens=context_tokens)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise TeamError.of(errors)
    return team


def check_team(
    team: Team, code_sections: Collection[str] = (), *, context_tokens: int | None = None
) -> list[TeamProblem]:
    """Find everything that is wrong between the parts of a team, errors and warnings.

    Args:
        team: The team, from a file or built in Python.
        code_sections: Sections that the team's code fills at the end of a turn (`TeamRules.code_sections`).
        context_tokens: The context of the instance that will play the agents, where it is known.
    """
    look = _Look(team, frozenset(code_sections), context_tokens)
    found: list[TeamProblem] = []
    for rule in (_sections, _reads, _writes, _cycles, _replies, _budgets, _harnesses, _members):
        found.extend(rule(look))
    return [replace(problem, where=".".join(map(str, problem.path))) for problem in found]


@dataclass(frozen=True)
class _Look:
    team: Team
    code: frozenset[str]
    context_tokens: int | None

    @cached_property
    def writers(self) -> dict[str, list[str]]:
        return section_writers(self.team)

    @cached_property
    def known(self) -> list[str]:
        return [*self.team.sections, *sorted(self.code - self.team.sections.keys())]

    def unknown_hint(self, section: str) -> str:
        close = nearest(section, self.known)
        if close:
            return f"did you mean {quoted(close)}?"
        return f"the sections are: {', '.join(self.known)}" if self.known else "declare it under `sections`"


def _sections(look: _Look) -> Iterator[TeamProblem]:
    read = {section for agent in look.team.agents.values() for section in agent.reads}
    for name, section in look.team.sections.items():
        path = ("sections", name)
        schema = section.json_schema
        if section.text and schema is not None:
            message = f"section `{name}` is text and has a schema"
            yield TeamProblem(message, path=(*path, "schema"), hint="leave out `text: true` or the schema")
        elif schema is not None:
            # With a draft of its own, no model sees the section's schema.
            for_model = any(look.team.agents[w].draft_schema is None for w in look.writers.get(name, ()))
            yield from (lint_model_schema if for_model else lint_stored_schema)(schema, (*path, "schema"))
        elif not section.text and any(look.team.agents[w].draft_schema is None for w in look.writers.get(name, ())):
            message = f"section `{name}` has neither `text: true` nor a schema"
            yield TeamProblem(message, path=path, hint="write `text: true` for words, or a JSON Schema under `schema`")
        if name not in look.writers and name not in look.code and name not in read:
            message = f"no agent writes or reads section `{name}`"
            yield TeamProblem(message, path=path, severity="warning", hint="remove it, or let an agent write it")
    for name, agent in look.team.agents.items():
        if agent.draft_schema is not None:
            yield from lint_model_schema(agent.draft_schema, ("agents", name, "draft_schema"))


def _reads(look: _Look) -> Iterator[TeamProblem]:
    for name, agent in look.team.agents.items():
        for section, read in agent.reads.items():
            path = ("agents", name, "reads", section)
            if section not in look.known:
                message = f"agent `{name}` reads section `{section}`, which does not exist"
                yield TeamProblem(message, path=path, hint=look.unknown_hint(section))
                continue
            yield from _read_of_known(look, name, agent, section, read)
            yield from _unused_read_settings(look, path, read)


def _read_of_known(look: _Look, name: str, agent: Agent, section: str, read: Read) -> Iterator[TeamProblem]:
    path = ("agents", name, "reads", section)
    fresh = read.mode is ReadMode.FRESH
    if section in look.code:
        if fresh:
            message = f"agent `{name}` waits for section `{section}`, which code fills at the end of the turn"
            yield TeamProblem(message, path=path, hint="read it `latest`")
    elif section not in look.writers:
        message = f"agent `{name}` reads section `{section}`, which no agent writes"
        hint = f"let an agent write it (`writes: {section}`), or take this read out"
        yield TeamProblem(message, path=path, hint=hint)
    elif fresh and section == agent.writes:
        message = f"agent `{name}` waits for its own section `{section}`"
        yield TeamProblem(message, path=path, hint="read it `latest`: what it wrote in an earlier turn")


def _unused_read_settings(look: _Look, path: tuple[str, ...], read: Read) -> Iterator[TeamProblem]:
    if read.mode is ReadMode.LATEST:
        if read.within_s is not None:
            message = "`within_s` has no effect on a `latest` read, which never waits"
            yield TeamProblem(message, path=(*path, "within_s"), severity="warning", hint="take it out or read `fresh`")
        if read.on_missing is not OnMissing.LATEST:
            message = "`on_missing` has no effect on a `latest` read, which never waits"
            hint = "take it out or read `fresh`"
            yield TeamProblem(message, path=(*path, "on_missing"), severity="warning", hint=hint)
    elif read.within_s is not None and read.within_s >= look.team.deadline_s:
        message = (
            f"`within_s` of {read.within_s:g} s is not before the turn's own deadline ({look.team.deadline_s:g} s)"
        )
        hint = "make it shorter than `deadline_s`, or leave it out to wait until then"
        yield TeamProblem(message, path=(*path, "within_s"), severity="warning", hint=hint)


def _writes(look: _Look) -> Iterator[TeamProblem]:
    for name, agent in look.team.agents.items():
        path = ("agents", name, "writes")
        if agent.writes not in look.known:
            message = f"agent `{name}` writes section `{agent.writes}`, which does not exist"
            yield TeamProblem(message, path=path, hint=look.unknown_hint(agent.writes))
        elif agent.writes in look.code:
            message = f"agent `{name}` writes section `{agent.writes}`, which the team's code fills"
            yield TeamProblem(message, path=path, hint="give the agent a section of its own")
    for section, names in look.writers.items():
        for name in names[1:]:
            message = f"two agents write section `{section}`: `{names[0]}` and `{name}`"
            hint = "give each agent a section of its own, and let one read the other's"
            first = ("agents", names[0], "writes")
            yield TeamProblem(message, path=("agents", name, "writes"), related=(first,), hint=hint)


def _cycles(look: _Look) -> Iterator[TeamProblem]:
    waits = {name: [other for other in others if other != name] for name, others in fresh_waits(look.team).items()}
    for cycle in find_cycles(waits):
        edges = [("agents", a, "reads", look.team.agents[b].writes) for a, b in pairwise(cycle)]
        message = f"these agents wait for each other: {' -> '.join(cycle)}"
        hint = "make one of these reads `latest`"
        yield TeamProblem(message, path=edges[0], related=tuple(edges[1:]), hint=hint)


def _replies(look: _Look) -> Iterator[TeamProblem]:
    replies = look.team.replies
    for which, section in (("first", replies.first), ("full", replies.full)):
        if section is not None:
            yield from _reply(look, which, section)
    if replies.first is None and replies.full is None:
        hint = "name a text section: `reply: answer`"
        yield TeamProblem("the person is shown no reply", path=("replies",), severity="warning", hint=hint)
    elif replies.first == replies.full:
        message = f"`first` and `full` are the same section `{replies.full}`"
        yield TeamProblem(message, path=("replies", "full"), hint="leave one of them out")


def _reply(look: _Look, which: str, section: str) -> Iterator[TeamProblem]:
    path = ("replies", which)
    if section not in look.known:
        message = f"the {which} reply is section `{section}`, which does not exist"
        yield TeamProblem(message, path=path, hint=look.unknown_hint(section))
        return
    declared = look.team.sections.get(section)
    if declared is None or not declared.text:
        message = f"the {which} reply is section `{section}`, which is not text"
        text = [name for name, other in look.team.sections.items() if other.text]
        hint = f"text sections are: {', '.join(text)}" if text else f"write `text: true` in section `{section}`"
        yield TeamProblem(message, path=path, related=(("sections", section),), hint=hint)
    writers = look.writers.get(section, [])
    if not writers and section not in look.code:
        message = f"the {which} reply is section `{section}`, which no agent writes"
        yield TeamProblem(message, path=path, hint=f"let an agent write it: `writes: {section}`")
    waits = fresh_waits(look.team)
    if which == "first" and writers and waits[writers[0]]:
        message = f"the first reply is not at once: `{writers[0]}` waits for {_and(waits[writers[0]])}"
        hint = "let it read `latest`, or make this the full reply"
        yield TeamProblem(message, path=path, severity="warning", hint=hint)


def _budgets(look: _Look) -> Iterator[TeamProblem]:
    context = look.context_tokens
    if context is None:
        return
    for name, agent in look.team.agents.items():
        path = ("agents", name)
        prompt = agent.max_input_tokens or 0
        if agent.output_reserve >= context:
            message = f"`max_output_tokens` of {agent.output_reserve} leaves no room in a context of {context} tokens"
            yield TeamProblem(message, path=(*path, "max_output_tokens"), hint="make it smaller, or the context larger")
        elif prompt + agent.output_reserve > context:
            message = (
                f"`max_input_tokens` and `max_output_tokens` add up to {prompt + agent.output_reserve}, "
                f"more than the context of {context} tokens"
            )
            yield TeamProblem(message, path=(*path, "max_input_tokens"), hint="make one of them smaller")


_ONLY_FOR = {
    "command": (HarnessKind.COMMAND, HarnessKind.ACP, HarnessKind.CLAUDE_CODE),
    "program": (HarnessKind.ACP,),
    "context": (HarnessKind.COMMAND,),
}
"""Settings that not every harness has; `native` has none."""


def _harnesses(look: _Look) -> Iterator[TeamProblem]:
    for name, agent in look.team.agents.items():
        harness, path = agent.harness, ("agents", name, "harness")
        if harness.kind is HarnessKind.COMMAND and not harness.command:
            message = f"agent `{name}` is run by a command, but none is given"
            hint = "write `harness: {kind: command, command: [python3, /path/agent.py]}`"
            yield TeamProblem(message, path=path, hint=hint)
        if harness.program is not None and harness.command:
            message = f"agent `{name}` names both a `program` and a `command`"
            yield TeamProblem(message, path=(*path, "program"), hint="keep one of them")
        for setting in sorted(harness.model_fields_set - {"kind"}):
            fits = _ONLY_FOR.get(setting, tuple(kind for kind in HarnessKind if kind is not HarnessKind.NATIVE))
            if harness.kind not in fits:
                message = f"the harness `{harness.kind}` has no setting `{setting}`"
                hint = f"it belongs to {_and(fits)}; leave it out, or change `kind`"
                yield TeamProblem(message, path=(*path, setting), hint=hint)


_LABEL = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(@[1-9][0-9]{0,8})?")


def _members(look: _Look) -> Iterator[TeamProblem]:
    """A deployed agent speaks for itself: it replies in words, by its own package."""
    for name, agent in look.team.agents.items():
        path = ("agents", name, "agent")
        if agent.agent is None:
            continue
        if not _LABEL.fullmatch(agent.agent):
            hint = "write its name, as `repertory agents list` shows it, or NAME@VERSION"
            yield TeamProblem(f"{quoted(agent.agent)} can not be a deployed agent", path=path, hint=hint)
        if agent.harness.kind is not HarnessKind.NATIVE:
            message = f"agent `{name}` is a deployed agent and names a `harness` as well"
            yield TeamProblem(message, path=path, hint="keep one of them")
        section = look.team.sections.get(agent.writes)
        if section is not None and not section.text:
            message = f"agent `{name}` is a deployed agent, which replies in words; `{agent.writes}` has a schema"
            yield TeamProblem(message, path=path, hint=f"make `{agent.writes}` a section with `text: true`")


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(f"`{name}`" for name in names[:-1])] * (len(names) > 1) + [f"`{names[-1]}`"])
