"""An example of a package that adds to the Embedding Bias Harness."""
