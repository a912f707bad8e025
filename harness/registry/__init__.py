"""Looks up models, mitigators, metrics, engines, tasks, concepts and studies by name.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points
`files`               finds the YAML files of tasks, concepts and studies
`registry`            looks names up and imports their objects
====================  ==============================================================
"""
