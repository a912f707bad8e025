"""Boards: claims become ranked rows of models and effects of mitigators. Computes every number.

| module | what it does |
| --- | --- |
| `cells.py` | Chooses the claims that count: one cell for each row and task. |
| `ranking.py` | Means over families with their intervals; ranks with simultaneous sets of ranks. |
| `prompts.py` | What other neutral prompts change in the mean of a model, and where they decide. |
| `effects.py` | Paired effects of mitigators on models, and mitigators ranked over models. |
| `board.py` | A `Board` for each kind of embedder: its grid, usable rows, benchmarks, models. |
| `findings.py` | Sentences: the answer of the first screen, and warnings about the ranks. |
| `references.py` | The shipped records of random and constant vectors, and their computation. |
"""
