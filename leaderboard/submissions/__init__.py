"""Submissions: results of many people in one repository. Each command has a module `*_command`.

==================  ================================================================
`submission`        `submission.json`, and where a record lies in a repository
`pack`              a results folder as a submission; leaves out what `check` refuses
`check`             what is wrong with a submission: by `tree`, `record_lines`, `base`,
                    `texts` and `model_identity`
`additions`         what a submission adds, beside two reference models
`comment`           the result of a check as Markdown that strangers cannot abuse
`rerun`             runs random scores of a submission again
`merge`             adds submissions to a repository, and changes nothing there
`withdrawn`         `withdrawn.yaml`: what the maintainers took off the board
`card`              the scores of a model for its page on a hub
`init`              writes a new repository, from the files in `repository/`
`commands`          the commands that join `harness results`
==================  ================================================================
"""
