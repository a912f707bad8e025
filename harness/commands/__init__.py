"""The command line: a module for each command, imported when the command runs."""
