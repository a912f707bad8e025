"""Encoders and language models run by transformers and sentence-transformers."""
