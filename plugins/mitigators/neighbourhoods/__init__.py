"""Nearest neighbours of words, and the objective of RAN-Debias over them.

==================  ================================================================
`neighbours`        nearest words in a vocabulary of any size, in bounded memory
`neighbour_cache`   the same, with a cache of earlier searches
`ran_minimum`       the minimum of the objective of RAN-Debias for each word
==================  ================================================================

Knows no concept.
"""
