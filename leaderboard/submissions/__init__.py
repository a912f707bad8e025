"""Submissions: results of many people in one repository.

==================  ================================================================
`submission`        `submission.json`, the place of a record, and checks of both
`pack`              a results folder as a submission; leaves out what `check` refuses
`check`             finds the problems of a submission; also as a comment
`merge`             adds submissions to a repository, and changes nothing there
`withdrawn`         `withdrawn.yaml`: what maintainers withdrew or replaced
`card`              the scores of a model for its page on a hub
`init`              writes a new repository, from the files in `repository/`
==================  ================================================================
"""
