"""Training of encoders on a corpus; the command `harness train`."""
