"""Encoding: texts become vectors.

====================  ==============================================================
`adapters`            makes an `Embedder` of any object with `encode(texts)`
`engine`              what an engine is, and its report
`batches`             encodes texts in batches within a token budget, longest first
`stored_embedder`     an embedder whose vectors come from its store
====================  ==============================================================
"""
