"""Studies: mitigators compared by nested cross-validation, with significance tests.

- The set-up: `study_file` is the schema of a file; `study` resolves it (`study_document`) into rows
  (`candidates`) and columns (`measures`). `folds` divides the pairs of a concept.
- The run: `bench` judges a mitigator on held-out pairs, with the metric calls of `calls` and the
  vectors of `base`; `outcome` is what it finds, `sides` swaps the sides of pairs, and `leaks`
  refuses what was fitted on. `judging` is the work of one process, `on_model` the study on one
  model, and `running` the whole run. `study_record` is one line of the results, `study_run` all of
  them.
- The results: `distances` has the numbers that rows are compared by, `pooling` how they are free of
  a floor. `differences`, `significance` and `bayesian` are the statistics, `reference_rows` the
  rows that changes are counted from, `cells` the numbers of a table. `summary` collects them, with
  the `statement` and the `notes`; `tables`, `formats` and `violins` write them.
"""
