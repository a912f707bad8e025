"""Models × mitigators × tasks: the main job.

====================  ==============================================================
`settings`            options of a run: folders, seed, engine, devices
`run_file`            a run as a YAML file, to write and to repeat
`tasks`               selects the tasks
`task_reader`         reads them, with the metrics that are added
`plan`                the jobs for a model, and the texts that they need, each once
`rewriting`           rewrites the texts of many jobs in one call
`evaluation`          `harness.evaluate`: models in, records out
`models`              names and Python objects become embedders
`added_metrics`       metrics that the user adds to the tasks
`mitigators`          names and Python objects become chains
`same_models`         each model once, and no two different ones under one name
`run`                 an evaluation in progress, model by model
`plan_scores`         the jobs of a plan become records, in its order
`job_pool`            runs jobs, in this process and in others
`sent_jobs`           what other processes are sent: vectors, mitigators, tasks, each once
`job_workers`         what they do with it, without the model
`job_runner`          a job becomes records, or a reason why not; in any process
`scoring`             vectors of one task become scores
`job_vectors`         the vectors of a job's texts, under its mitigator
`model_facts`         what only the model knows of the texts of a score
`leaks`               texts of a task that a mitigator was fitted on, as the model reads them
`frequency`           how frequent the words of a score are
`metric_inputs`       the arrays, clusters and texts that a metric gets of a task
`sample_rows`         the texts of each item of a score, and what it contributes
`recording`           scores become records
`debiasing`           writes a debiased vocabulary to a file
`vector_files`        writes word vectors in several formats
====================  ==============================================================
"""
