"""What the fits of several mitigators share.

======================  ============================================================
`words`                 vectors of a concept's words; the check that it has them
`vocabulary`            mean, components and cached results of a vocabulary
`neighbours`            nearest words, and the objective of RAN-Debias over them
`sentences`             sentences on which mitigators of text encoders are fitted
`subspaces`             subspaces of a concept: neutralise, equalise
`concept_subspace`      the subspace of a concept's definitional pairs
======================  ============================================================

Knows no mitigator.
"""
