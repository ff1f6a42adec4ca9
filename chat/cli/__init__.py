"""The command line, one module per command.

Importing the command line imports no server: a command imports what it needs when it runs, so that `chat --version` and
completion answer at once.
"""
