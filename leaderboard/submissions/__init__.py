"""Submissions: results of many people in one repository; each command stands with what it does.

==================  ================================================================
`submission`        `submission.json`, where a record lies, and the checks of both
`pack`              a results folder as a submission; leaves out what `check` refuses
`check`             what is wrong with a submission, also as a comment
`additions`         what a submission adds, beside two reference models
`rerun`             runs random scores of a submission again
`merge`             adds submissions to a repository, and changes nothing there
`withdrawn`         `withdrawn.yaml`: what the maintainers took off the board
`card`              the scores of a model for its page on a hub
`init`              writes a new repository, from the files in `repository/`
==================  ================================================================
"""
