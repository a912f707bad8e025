"""Encoding: texts become vectors.

====================  ==============================================================
`adapters`            an object with `encode(texts)`, or a function, as an embedder
`identity`            what identifies an object: what it states, or its weights and settings
`quantized`           an encoder whose vectors have less precision
`engine`              what an engine is, and its report
`batches`             encodes texts in batches within a token budget, longest first
`admission`           whether a model's vectors may be stored: alone and in a batch, and over time
`spellings`           which texts a model reads alike
`stored_embedder`     an embedder whose vectors come from its store; also memory-mapped in workers
====================  ==============================================================
"""
