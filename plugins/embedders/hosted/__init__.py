"""Models behind an OpenAI-compatible endpoint: embeddings and chat.

===============  ==============================================================
`openai`         `openai:MODEL`, text encoders behind an embeddings endpoint
`chat`           language models behind a chat endpoint: a text in, a text out
`endpoint`       address, client and requests; explains errors, and masks keys
`retrying`       repeats requests, after the wait that an endpoint asks for
===============  ==============================================================
"""
