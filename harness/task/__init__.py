"""A task file becomes texts and metric calls.

====================  ==============================================================
`yaml_files`          reads YAML with includes and schemas
`yaml_parsing`        parses one file safely, with the line of every key
`mistakes`            the mistakes of a file, all of them, in words
`schema`              the keys of a task file
`each`                one file with several tasks
`table_schema`        the keys of a table
`data_files`          finds or fetches the files of tables
`package_folder`      finds an installed package without importing it
`table_files`         parses the file of a table
`tables`              the tables of a task by name, read or made from one another
`inputs`              the texts of each input, per scenario
`input_size`          counts the texts of an input, up to the limits
`templates`           fills templates
`task`                the resolved task
`resolving`           makes it: inputs are checked against the signatures of the metrics
`smoke_rows`          cuts the inputs of a smoke run
`lint`                warnings for task files
`validity`            what is recorded of the validity of a task's score
`benchmark`           named, versioned lists of tasks
====================  ==============================================================
"""
