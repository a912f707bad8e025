"""Nearest neighbours of words, and the optimisation of RAN over them."""
