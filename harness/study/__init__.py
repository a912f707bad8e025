"""Studies: mitigators compared by nested cross-validation, with significance tests.

- The set-up: `study_file` is the schema of a file; `study` resolves it into rows and columns.
  `folds` divides the pairs of a concept.
- The run: `bench` scores a mitigator on held-out pairs, and refuses texts that it was fitted on.
  `running` runs each row in each fold, and returns the records. `study_record` is one line of the
  results.
- The results: `cells` has the numbers of a table, `significance` the statistics. `summary` collects
  them, with the conclusion and the caveats; `study_tables` and `violins` write them.
"""
