"""Subspaces of a concept: how to find them, and how to project vectors.

==================  ================================================================
`projection`        linear algebra: principal axes, neutralise, equalise
`subspace_debias`   base class of hard debiasing and multiclass hard debiasing
`concept_subspace`  the subspace of the definitional pairs, for other mitigators
==================  ================================================================
"""
