"""The coaching team: Shadow, Persona, Plasticity, Stability, Coach and Synth."""

from repertory.teams.coaching.team import open_team

__all__ = ("open_team",)
