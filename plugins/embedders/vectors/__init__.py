"""Word vectors: a vocabulary with its vectors, from files and packages.

===================  ==============================================================
`word_vectors`       word vectors as an embedder, from whatever source
`objects`            gensim's objects, a mapping, words and an array
`bag_of_words`       `bag-of-words:MODEL`, texts as the mean of their words' vectors
`vectors_file`       `vectors:PATH`: recognises the format of a file; reads text and binary
`fasttext_file`      reads fastText's binary format, and composes unknown words
`safetensors_file`   reads the safetensors that `harness debias` writes
`table_builder`      collects words and vectors while a file is read, and what is wrong with some
`compression`        opens gzip, bzip2 and xz as streams, with limits
`gensim_data`        `gensim:NAME`, word vectors from gensim's downloader
`glove`              `glove-6b-50d`, from a Python package
`spacy_vectors`      `en-core-web-md`, from a Python package
===================  ==============================================================
"""
