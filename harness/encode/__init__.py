"""Encoding: texts become vectors.

====================  ==============================================================
`adapters`            an object with `encode(texts)`, or a function, as an embedder
`identity`            what identifies an object: hashes of all its state, and its code
`code_identity`       hashes of functions and classes, with what they use
`engine`              what an engine is, and its report
`batches`             encodes texts in batches within a token budget, longest first
`batch_size`          how many texts the next batch has, which failures reduce
`one_batch`           the vectors of a batch, checked, or why there are none
`admission`           whether a model's vectors may be stored: the same alone and in a batch
`without_vector`      which texts a model has no vector for, so that a row of NaN is right
`canary`              which model answers behind a hosted name
`spellings`           which texts a model reads alike, such as a word in upper and in lower case
`roles`               queries and documents, for models that encode them differently
`stored_embedder`     an embedder whose vectors come from its store
====================  ==============================================================
"""
