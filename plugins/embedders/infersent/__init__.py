"""InferSent: a BiLSTM with max pooling over word vectors.

===========  ==============================================================
`infersent`  `infersent:FOLDER`, the encoder
`files`      the folder of a model, and the conversion of published weights
===========  ==============================================================
"""
