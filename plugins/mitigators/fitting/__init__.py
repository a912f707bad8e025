"""The words of a concept as a model has them: looked up, required, and kept per vocabulary."""
