"""Looks up models, mitigators, metrics, engines, tasks, concepts and studies by name.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points, and the YAML files of tasks
`registry`            from a name to its object, also for files beside an installed plugin
`trust`               what a file may ask for: code, keys, addresses, paths
====================  ==============================================================
"""
