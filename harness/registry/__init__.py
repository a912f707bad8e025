"""Looks up models, mitigators, metrics, engines, tasks, concepts and studies by name.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points
`files`               finds the YAML files of tasks, concepts, studies and benchmarks
`catalogue`           things of one kind by name
`models`              finds the model that a name means, and its label
`registry`            looks names up
`beside`              looks up the concepts beside a file first
`quantized`           text encoders whose vectors have less precision
`loading`             imports the objects that they stand for
====================  ==============================================================
"""
