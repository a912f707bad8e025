"""Boards: claims become ranked rows of models and effects of mitigators.

| module | what it does |
| --- | --- |
| `cells.py` | Chooses the claims that count: one cell for each row and task. |
| `prompts.py` | What other neutral prompts change in the bias of a model, and where they decide. |
| `views.py` | What the one estimator says of each benchmark, concept and language. |
| `board.py` | A `Board` for each kind of embedder: its grid, usable rows, benchmarks, models. |
| `findings.py` | Sentences: the answer of the first screen, and warnings about the ranks. |
| `references.py` | The shipped records of random and constant vectors, and their computation. |
"""
