"""Vectors and expensive answers on disk.

====================  ==============================================================
`store`               vectors of one embedder by text: missing texts, look-up, writing, verification
`folder`              where the segments of one store lie: on a file system or in a bucket
`segment`             one immutable file of keys and vectors
`pruning`             all stores of a folder: list, remove, merge
`answers`             on-disk cache of expensive per-text answers
====================  ==============================================================

There is no lock and no server: a segment is written under a temporary name, synced and renamed.
Several processes may write at once. A kill loses only the rows that were not flushed.
"""
