"""Looks up models, mitigators, metrics, engines, tasks, concepts and studies by name.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points
`files`               finds the YAML files of tasks, concepts, studies and benchmarks
`models`              finds the model that a name means, its label and its precision
`registry`            looks names up, also those of files beside an installed plugin
`trust`               what a file may ask for: code, keys, addresses, paths
====================  ==============================================================
"""
