"""Models × mitigators × tasks: the main job.

====================  ==============================================================
`settings`            how a run is done: folders, seed, engine, devices
`tasks`               which tasks are meant, and reading them
`plan`                what there is to do for a model: each text once
`evaluation`          models in, records out
`scoring`             vectors of one task become scores
`recording`           scores become records
`debiasing`           writes a debiased vocabulary to a file
`vector_files`        formats of word vector files
====================  ==============================================================
"""
