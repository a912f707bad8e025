"""What several metrics share: bootstrap, permutations, correlations, directions of pairs."""
