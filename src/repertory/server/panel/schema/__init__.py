"""The JSON that the dashboard's API takes and gives. The web client's types are generated from these models."""
