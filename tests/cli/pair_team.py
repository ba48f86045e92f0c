"""A team file of two agents, the second of which waits for the first."""

__all__ = ("PAIR",)

PAIR = """
name: pair
preamble: You are a pair.
sections:
  one: {text: true}
  two: {text: true}
agents:
  first:
    instructions: Be the first.
    writes: one
  second:
    instructions: Be the second.
    writes: two
    reads: {one: {mode: fresh}}
replies: {first: one, full: two}
"""
