"""Sentences that a reader of a plan must know: what is estimated, computed, left out or not proven."""

from collections.abc import Mapping

from repertory.catalog.loader import Catalog
from repertory.planning.casting import Casting
from repertory.planning.needs import AgentNeeds

__all__ = ("plan_notes",)


def plan_notes(agents: Mapping[str, AgentNeeds], casting: Casting, catalog: Catalog) -> list[str]:
    """The notes of a plan that was found."""
    notes: list[str] = []
    guessed = {
        name: [
            series for series, value in casting.by_agent[name].candidate.scores[name].values.items() if value.estimated
        ]
        for name in agents
    }
    told = [f"{name} ({', '.join(series)})" for name, series in guessed.items() if series]
    if told:
        notes.append(f"no published score, so estimated with a margin: {'; '.join(told)}")
    computed = sorted({p.candidate.choice.repo for p in casting.placements if not p.candidate.instance.weights_known})
    if computed:
        notes.append(f"file sizes computed from the format, 4 % kept free for it: {', '.join(computed)}")
    left = [model.name for model in catalog.models if not model.scores]
    if left:
        notes.append(f"left out because no benchmark of theirs is known: {', '.join(left)}")
    if casting.status == "feasible" and casting.gap > 0:
        notes.append(f"not proven best: at most {casting.gap:.2%} better scores are possible")
    elif casting.status == "feasible" and not casting.swaps:
        notes.append("the scores are proven best; fewer instances or less memory may be possible")
    return notes
