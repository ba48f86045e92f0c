"""Compaction: the talk of earlier sessions becomes a few facts, each with the message it stands in.

It runs between sessions and in idle time, at the lowest priority, and can be cancelled at any moment: what was not
finished is done the next time. Nothing is ever lost by it. The messages stay as they are, structured facts are rows of
their own, and a fact that a model made up is not kept (`facts.is_grounded`).

What a prompt gets is bounded however many sessions there were: a memory of at most `MAX_MEMORY_CHARS` characters that
is frozen with the session, and for each message the few facts beyond it that share rare words with the message.
"""
