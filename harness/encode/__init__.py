"""Encoding: texts become vectors.

====================  ==============================================================
`adapters`            an object with `encode(texts)`, or a function, as an embedder
`identity`            hashes of weights, arrays and code: what identifies an object
`engine`              what an engine is, and its report
`batches`             encodes texts in batches within a token budget, longest first
`roles`               queries and documents, for models that encode them differently
`stored_embedder`     an embedder whose vectors come from its store
====================  ==============================================================
"""
