"""What the fits of several mitigators share.

======================  ============================================================
`concept_requirements`  checks that a concept has the fields that a mitigator needs
`listed_words`          vectors of a concept's words; which texts are such words
`vocabulary_cache`      cache of results that belong to a vocabulary
`vocabulary_survey`     mean and principal components of a vocabulary
======================  ============================================================

Knows no mitigator.
"""
