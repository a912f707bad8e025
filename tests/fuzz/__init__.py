"""Fuzzing of everything that the harness reads: `python -m tests.fuzz --inputs 10000`.

==============  ===========================================================================
`corpus/KIND/`  inputs to start from; each finding becomes one of them
`mutating`      makes further inputs of them, by changes of bytes, lines and values
`kinds`         what is read, and how
`running`       many inputs of a kind: only a `HarnessError` with one line may come out
==============  ===========================================================================
"""
