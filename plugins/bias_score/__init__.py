"""The bias score of sentences.

==================  ================================================================
`method`            how sentences are scored: importance, direction, gendered words
`scorer`            scores sentences with one model
`equations`         the equations of the paper
`importance`        weight of each token in the vector of its text
`direction`         the gender direction from pairs of vectors
`gendered`          the list of gendered words, which do not count as bias
`sentence_pairs`    pairs of sentences that differ in gender alone
`states`            token states of any embedder
==================  ================================================================

`harness corpus score` scores corpora with it. Knows no mitigator and no task. Token states are not
kept in the store.
"""
