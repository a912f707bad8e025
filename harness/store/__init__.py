"""Vectors and expensive answers on disk.

====================  ==============================================================
`store`               vectors of one embedder by text: missing texts, look-up, verification
`contents`            what a store contains: facts, counts, and damage
`folder`              where the segments of one store lie, on a file system
`bucket_folder`       where they lie in a bucket, with a mirror on this machine
`places`              the folders of stores in a place
`model_file`          what is known about the model of one store
`segment`             one immutable file of keys and vectors
`header`              what a segment states about its tensors
`key_index`           finds the rows of many texts in many segments at once
`writer`              collects vectors and writes them as segments
`pruning`             all stores of a folder: list, remove, merge
`answers`             on-disk cache of expensive per-text answers
====================  ==============================================================

There is no lock and no server: a segment is written under a temporary name, synced and renamed.
Several processes may write at once. A kill loses only the rows that were not flushed.
"""
