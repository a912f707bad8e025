"""Validates metrics: do they see planted bias, and what do they show by chance."""
