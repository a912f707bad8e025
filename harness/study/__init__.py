"""Studies: mitigators compared by nested cross-validation, with tests of what differs.

What a person writes is `study_file`; what is made of it `study`, with `candidates` for rows and
`measures` for columns. `folds` deals the pairs of a concept out. `bench` judges a mitigator on
held-out pairs, with `calls` for what metrics are asked and `base` for the vectors; `judging` is
the work of one process, `on_model` what there is to do on a model, and `running` does all of it.
`study_record` is a line of the results. `differences` and `significance` are the statistics,
`cells` the numbers of a table, `summary` what a study says, with `notes` and `violins`; `tables`
and `formats` write it.
"""
