"""The engineering team: nine agents that design, write, test and release new agents."""
