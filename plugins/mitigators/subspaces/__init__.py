"""Bias subspaces: estimating them from pairs and sets, and projecting vectors on or off them."""
