"""Records and their files.

====================  ==============================================================
`record`              the schema of a record: one score with all that explains it
`record_parts`        its parts: model, mitigator, task, interval, floor, coverage
`records`             a sequence of records, and its data frames
`not_run`             a task that was not run, and why
`lines`               lines of these files: their checks, and what is wrong with them
`jsonl`               files of records: read, appended to, brought into order
`verifying`           checks these files, and moves damaged lines to a file beside
`folder`              a results folder: one file per model
`shared`              a results folder in a bucket, which machines share
`model_names`         one name for each model of records that are read together
`samples`             what each item contributes to a score, a file for each record
`figures`             figures and tables that are written beside records
`smoke_runs`          sets the records of smoke runs aside
`over_seeds`          means over runs that differ only in a seed
`outcome`             what ran on each model, and every reason once
`tables`              the tables of an evaluation, as cells
`formats`             these tables as texts, LaTeX and Markdown
`means`               means over tasks, each family with one vote
`averages`            means over tasks, and how scores agree
`correlation`         how two groups of tasks correlate over models and mitigators
`rank_correlation`    the correlation of points, and its interval
`comparison`          paired comparison of two rows: differences and their means
`items`               two rows item by item, by a column of their samples
`sides`               the rows of a comparison: mitigators, models or runs
`resampling`          intervals of paired differences, by the jackknife
`scale`               the distance of a value to its ideal
`html`                these tables as HTML, for notebooks
`frames`              sequences of records as data frames
`markup`              tables of texts as LaTeX, Markdown and CSV
====================  ==============================================================
"""
