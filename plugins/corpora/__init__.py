"""Corpora of sentences and of sentence pairs.

==================  ================================================================
`entries`           reads a corpus of any format, entry by entry
`rows`              rows of JSON lines, tables and plain lines
`lines`             lines of a file or of standard input
`hub`               rows of a data set of the Hugging Face hub
==================  ================================================================
"""
