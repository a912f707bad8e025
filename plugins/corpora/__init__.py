"""Training corpora: scored, subtracted and augmented; the command `harness corpus`."""
