"""Studies: mitigators compared by nested cross-validation, with significance tests.

- The set-up: `study_file` is the schema of a file; `study` resolves it (`study_document`) into rows
  (`candidates`) and columns (`measures`). `folds` divides the pairs of a concept.
- The run: `bench` judges a mitigator on held-out pairs, with the metric calls of `calls` and the
  vectors of `base`. `judging` is the work of one process, `on_model` the study on one model, and
  `running` the whole run. `study_record` is one line of the results, `study_run` all of them.
- The results: `differences`, `significance` and `bayesian` are the statistics, `reference_rows` the
  rows that changes are counted from, `cells` the numbers of a table. `summary` collects them, with
  the `statement` and the `notes`; `tables`, `formats` and `violins` write them.
"""
