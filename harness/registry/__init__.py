"""Names become objects: models, mitigators, metrics, engines, tasks, concepts, studies.

====================  ==============================================================
`discovery`           finds the installed plugins by entry points
`files`               finds the YAML files of tasks, concepts and studies
`registry`            looks names up and imports what they stand for
====================  ==============================================================
"""
