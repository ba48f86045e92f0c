"""The section that shows the commitments."""

from collections.abc import Sequence
from typing import Any

from repertory.storage.records import Commitment
from repertory.teams.coaching.sections import CommitmentRow

__all__ = ("commitment_rows",)


def commitment_rows(commitments: Sequence[Commitment]) -> list[dict[str, Any]]:
    """The commitments as the section shows them."""
    return [
        CommitmentRow(
            id=item.id, what=item.what, when=item.when, due=item.due.date().isoformat() if item.due else None,
            p=item.p, outcome=item.outcome, kind=item.kind, made_in=item.made_in, settled_in=item.settled_in,
        ).model_dump(mode="json")
        for item in commitments
    ]  # fmt: skip
