"""The bias score of sentences.

==================  ================================================================
`method`            how sentences are scored: importance, direction, gendered words
`scorer`            scores sentences with one model: direction, importance, equations
`gendered`          the list of gendered words, which do not count as bias
==================  ================================================================

`harness corpus score` scores corpora with it. Knows no mitigator and no task. Token states are not
kept in the store.
"""
