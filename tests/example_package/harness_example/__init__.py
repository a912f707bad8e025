"""Example of a plugin package for the Embedding Bias Harness."""
