"""Claims: a record of somebody else is a claim. What is wrong is set aside with its reason."""
