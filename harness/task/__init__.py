"""A task file becomes texts and metric calls.

====================  ==============================================================
`yaml_files`          reads YAML safely, with includes and the line of every key
`schema`              what a task file may say
`table_files`         where a table's file lies, and how it is parsed
`tables`              the tables of a task by name, read or made of one another
`inputs`              the texts of each input, per scenario
`task`                the resolved task: inputs checked against its metrics' signatures
`lint`                warnings for task files
====================  ==============================================================
"""
