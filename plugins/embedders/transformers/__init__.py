"""Encoders and language models of transformers and sentence-transformers.

========================  ==============================================================
`sentence_transformer`    `sentence-transformers:MODEL`, encoders of that library; each weight read
`loaded_model`            a `SentenceTransformer` in memory
`last_token`              `last-token:MODEL`, language models read at their last token
`minilm`                  `all-MiniLM-L6-v2`, from a package or from the hub
`encoder`                 base class of the encoders: options, lengths, fingerprint, facts
`hub`                     a model of the Hugging Face hub as a local folder
`model_folder`            what the files of a model say, without loading it
`model_settings`          kind, settings and routes of a model, checked against its weights
`mapped_model`            writes a `SentenceTransformer` with a mitigator's map behind it
`model2vec`               static models of that package
`gguf_file`               a language model in a GGUF file: what its header says
`exported_backend`        runs a transformer that was exported to ONNX or OpenVINO
`exported_transformer`    that transformer as a module of sentence-transformers
`tokens`                  token counts and truncation, padding, words of tokens; without weights
========================  ==============================================================
"""
