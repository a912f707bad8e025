"""Texts become vectors.

====================  ==============================================================
`adapters`            makes an `Embedder` of any object with `encode(texts)`
`engine`              encodes what a store lacks, longest text first, in full batches
`stored_embedder`     an embedder whose vectors come from its store
====================  ==============================================================
"""
