"""What runs inside the sandbox: standard library only, because nothing else is there.

The host binds this folder into the sandbox and starts `main`. It reads one package of files, shuts itself in further,
and then forks one process per call, so that calls share nothing; only that process ever runs foreign code.
"""
