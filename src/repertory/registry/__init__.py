"""Agent packages and the registry of deployed agents. Code of an agent runs in the sandbox, never in this process."""
