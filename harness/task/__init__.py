"""A task file becomes texts and metric calls.

====================  ==============================================================
`yaml_files`          reads YAML safely, with includes and the line of every key
`mistakes`            the first mistake in a file, in words
`schema`              the keys of a task file
`table_files`         finds or downloads a table's file and parses it
`tables`              the tables of a task by name, read or made from one another
`inputs`              the texts of each input, per scenario
`task`                the resolved task: inputs checked against its metrics' signatures
`lint`                warnings for task files
====================  ==============================================================
"""
