"""Models × mitigators × tasks: the main job.

====================  ==============================================================
`settings`            options of a run, and a run as a YAML file
`tasks`               selects and reads the tasks, with metrics that the user adds
`plan`                the jobs for a model under mitigators, and their texts, each once
`evaluation`          `harness.evaluate`: models in, records out
`scoring`             jobs become scores, in this process and in workers
`recording`           scores become records and samples, with the model's facts and notices
`steps`               resumable steps of studies
`debiasing`           writes a debiased vocabulary to a file, in several formats
`exporting`           writes a debiased text encoder as a model, with its card
`estimator`           mitigators as transformers of scikit-learn
====================  ==============================================================
"""
