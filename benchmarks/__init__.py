"""One script per claim; results are kept in `benchmarks/results` with the facts of the machine."""
