"""Turns that survive: what an agent has done is kept as a step, and a turn that was cut off goes on behind it.

A step is a finished call of an engine, or an agent's section. An agent's last call and its section are kept in one
transaction, so that neither is there without the other, and a turn that is taken up again

* has the sections that were written, as they stand, and asks nobody for them again;
* is given the answers of finished calls from their steps (`JournaledEngine`), so that only unfinished calls are made;
* runs the rest by the same code that runs a turn for the first time.

The steps are rows of the store beside the blackboard and go with the turn's end, or when the person's data is erased.
Nothing is kept but JSON that is validated when it is read (`records`).

Why not a workflow engine. DBOS 3.4 was measured beside this journal (`python -m benchmarks.durable`, kept in
`benchmarks/results/durable.json`), a turn as a workflow and each of six agents as a child workflow in a fixed order,
the only form of it that recovers. On two busy cores it took 600 ms a turn (at best 416) for the six answers alone; a
whole turn of ours took 139 ms (at best 66) with message, steps, sections, events and result, and the first word came
after 43 ms (at best 19). It takes 0.6 s to import on a free machine and is one singleton for the process. And it
keeps its steps in tables of its own, so a section and the step that wrote it could not be one transaction, and
erasing a person would have to reach into them.
"""
