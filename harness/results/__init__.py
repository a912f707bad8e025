"""Records and their files.

====================  ==============================================================
`record`              a record: its schema, its line, its samples and its scale
`reading`             the lines of files: records, or what is wrong with a line
`columns`             records as columns, in which what many share is kept once
`records`             a sequence of records, its data frames, and what did not run
`jsonl`               files of records: read, appended to, verified
`folder`              a results folder, here or in a bucket: a file per model
`figures`             figures by Matplotlib, of samples and tables
`tables`              the tables of an evaluation
`formats`             any table, as text, CSV, LaTeX, Markdown and HTML
`estimator`           means, differences and ranges of ranks, which all else prints
`comparison`          two rows: score by score, item by item, and the verdict
`verdict`             the verdict as people and programs read it
`seeds`               runs that differ only in a seed as one: their mean
====================  ==============================================================
"""
