"""`python -m repertory`."""

from repertory.cli.app import main

main()
