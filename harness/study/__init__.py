"""Studies: mitigators compared by nested cross-validation, with tests of what differs.

What a person writes is `study_file`, what is made of it `study`; `folds` deals the pairs of a
concept out, `bench` judges one fold, `running` all of them, in parallel and from where it stopped.
`study_record` is a line of the results, `significance` the statistics, `summary` the tables.
"""
