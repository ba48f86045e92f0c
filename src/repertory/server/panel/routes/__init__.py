"""The panel's routes, one module per concern."""
