"""Statistics behind the metrics. They know arrays, but no task, no model and no record.

===================  =====================================================================
`association`        differential association and effect size of the WEAT family
`intervals`          confidence intervals over items or clusters, by the jackknife
`attribute_contrast` contrast of two attribute sets between two target sets
`target_shuffles`    target words assigned to two sides at random, and the test of it
`nulls`              random assignments to sides, and what scores show on them
`random_directions`  directions between random words, which those of concepts are read against
`partitions`         permutation test of two sets, exact or sampled
`without_one`        range of a statistic when one word is left out
`contributions`      what each item contributes to a correlation, AUC or difference of means
`weighted`           correlations, ranks and AUC of items with multiplicities
`word_sets`          vectors and means of word sets; the reason for an empty set
`pair_components`    direction of a concept: principal components of pairs
`concept_scores`     correlation with labels and AUC along a concept's direction
`concept_search`     searches for a concept's direction among the components of its pairs
`concept_nulls`      the same searches on shuffled pairs, and on all pairs but one
`analogy_search`     word pairs with the difference most parallel to a direction
`ranking`            documents that a query retrieves: top k and dynamic k
`within_groups`      cosines and distances of the pairs within groups of vectors
`separability`       separability of two sides of words: clusters, neighbours, classifier
`exposure`           shares of groups among retrieved documents
`group_gap`          gap between the groups' shares of what is retrieved, as a score
`correlations`       correlations of predictions with ratings, as scores
`classifying`        accuracy of answers; features of text pairs; copies of texts
`logistic`           logistic regressions on shuffled labels, many at once
`adam`               softmax classifiers trained by Adam, many at once
`senteval`           SentEval's published protocol of classification
===================  =====================================================================
"""
