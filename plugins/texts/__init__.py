"""Changes to texts: names found and marked, groups swapped."""
