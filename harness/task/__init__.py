"""A task file becomes texts and metric calls.

====================  ==============================================================
`yaml_files`          reads YAML with includes and schemas; mistakes with line and key
`schema`              the keys of task files, tables and benchmarks
`data_files`          finds or fetches the files of tables, and reads them
`inputs`              the texts of each input, per scenario: templates, smoke rows
`task`                the resolved task: texts, concept and metrics
`beside`              reads files of measured rows beside the tasks
`validity`            reads the recorded validity of a task's score
====================  ==============================================================
"""
