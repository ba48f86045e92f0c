"""The dashboard's API: what the browser shows and does, one module per concern, all under `/api`."""
