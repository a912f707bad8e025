"""Encoders and language models of transformers and sentence-transformers.

========================  ==============================================================
`sentence_transformer`    `sentence-transformers:MODEL`, encoders of that library
`loaded_model`            a `SentenceTransformer` in memory
`last_token`              `last-token:MODEL`, language models read at their last token
`minilm`                  `all-MiniLM-L6-v2`, from a package or from the hub
`encoder`                 base class of the encoders: lengths, fingerprint, facts
`encoder_options`         the options that the encoders share, checked against a model
`hub`                     a model of the Hugging Face hub as a local folder
`model_folder`            what the files of a model say, without loading it
`routes`                  the way that texts of each role take through an asymmetric model
`model_kind`              refuses sparse, multi-vector and cross-encoders
`model_settings`          checks settings of a model, and sizes against its weights
`loading_report`          refuses missing and left-over weights when they are loaded
`model2vec`               static models of that package
`gguf_file`               a language model in a GGUF file: what its header says
`exported_backend`        runs a transformer that was exported to ONNX or OpenVINO
`exported_transformer`    that transformer as a module of sentence-transformers
`padding`                 pads batches so that texts keep the vectors that they have alone
`pooling`                 one vector from the states of a text's tokens
`matryoshka`              keeps the first dimensions of vectors
`text_lengths`            token counts and truncation, without weights
`word_alignment`          which word of a text each token belongs to
========================  ==============================================================
"""
