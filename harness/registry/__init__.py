"""Looks up models, mitigators, metrics, engines, tasks, concepts and studies by name.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points
`files`               finds the YAML files of tasks, concepts and studies
`catalogue`           things of one kind by name
`registry`            looks names up
`loading`             imports the objects that they stand for
====================  ==============================================================
"""
