"""Boards: records become ranked rows of models and effects of mitigators. Computes every number.

| module | what it does |
| --- | --- |
| `cells.py` | Chooses the records that count, and measures each. |
| `grid.py` | A line for every row and task; which tasks are ranked, means, what rows lack. |
| `usable.py` | Which rows are usable: required controls, and more use than random vectors. |
| `ranking.py` | Means over families with their intervals; ranks with simultaneous sets of ranks. |
| `effects.py` | Paired effects of mitigators on models, and mitigators ranked over models. |
| `board.py` | Puts these together: a `Board` for each kind of embedder. |
| `benchmarks.py` | What is ranked on each named set of tasks. |
| `row_labels.py` | Models and mitigators as shown. |
| `notices.py` | What weakens the ranks of a board. |
| `published.py` | Bias against published quality. |
| `references.py` | The shipped records of random and constant vectors, and how they are computed. |
"""
