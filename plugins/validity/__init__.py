"""Validates metrics: do they see planted bias, and what do they show by chance.

==========  ========================================================================
`planting`  plants a bias of a known amplitude in vectors, and in a model
==========  ========================================================================
"""
