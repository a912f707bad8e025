"""Models × mitigators × tasks: the main job.

====================  ==============================================================
`settings`            options of a run, and a run as a YAML file
`tasks`               selects and reads the tasks, with the metrics that are added
`plan`                the jobs for a model under mitigators, and their texts, each once
`evaluation`          `harness.evaluate`: models in, records out
`job_pool`            runs jobs, in this process and in others, and keeps their order
`scoring`             vectors of one task become the inputs of metrics, and scores
`recording`           scores become records, with the model's facts
`debiasing`           writes a debiased vocabulary to a file, in several formats
====================  ==============================================================
"""
