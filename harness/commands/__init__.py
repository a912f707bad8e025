"""The command line: one module a command; none imports what another needs."""
