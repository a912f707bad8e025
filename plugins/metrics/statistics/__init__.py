"""Statistics behind the metrics. They know arrays, but no task, no model and no record.

===================  =====================================================================
`association`        differential association and effect size of the WEAT family
`intervals`          confidence intervals by the jackknife, and the contributions of items
`nulls`              random assignments to sides, exact or drawn, and scores on them
`concept_scores`     scores along a concept's direction, with their nulls
`analogy_search`     word pairs with the difference most parallel to a direction
`within_groups`      cosines and distances of the pairs within groups of vectors
`separability`       separability of two sides of words: clusters, neighbours, classifier
`exposure`           shares of groups among retrieved documents, and their gap
`correlations`       correlations of predictions with ratings, as scores
`senteval`           SentEval's published protocol of classification
===================  =====================================================================
"""
