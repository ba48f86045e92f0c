"""Danger by what a sentence means: words are read as concepts, and what concepts say together is judged.

A language gives the words of each concept (`english` and the others), `danger_rules` says once for all languages which
concepts together are danger, `reading` finds them in a text. Reading a text takes time in proportion to its length.
"""

from repertory.teams.coaching.safety.concepts.reading import dangers_in

__all__ = ("dangers_in",)
