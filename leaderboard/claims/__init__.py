"""Claims: the records of other people. Invalid ones are set aside with a reason."""
