"""Boards: claims become ranked rows of models and effects of mitigators. Computes every number.

| module | what it does |
| --- | --- |
| `cells.py` | Chooses the claims that count: the version, content and fit of each row and task. |
| `measures.py` | What each value counts: its distance to the ideal, and above the floor. |
| `seeds.py` | Several seeds of one row and task become one cell. |
| `grid.py` | A line for every row and task; which tasks are ranked, means, what rows lack. |
| `usable.py` | Which rows are usable: required controls, and more use than random vectors. |
| `ranking.py` | Means over families with their intervals; ranks with simultaneous sets of ranks. |
| `effects.py` | Paired effects of mitigators on models, and mitigators ranked over models. |
| `benchmarks.py` | What is ranked on each named set of tasks. |
| `findings.py` | Sentences for the first screen. |
| `board.py` | Puts these together: a `Board` for each kind of embedder. |
| `row_labels.py` | Rows: their roles, and models and mitigators as shown. |
| `models.py` | Facts of models, and the environments of their records. |
| `notices.py` | What weakens the ranks of a board. |
| `published.py` | Bias against published quality. |
| `references.py` | The shipped records of random and constant vectors, and how they are computed. |
"""
