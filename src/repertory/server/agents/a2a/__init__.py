"""Deployed agents over the Agent2Agent protocol (A2A)."""
