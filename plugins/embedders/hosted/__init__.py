"""Models behind an endpoint, mostly an OpenAI-compatible one: embeddings and chat.

===============  ==============================================================
`openai`         `openai:`, `cohere:` and `jina:MODEL`, text encoders behind an endpoint
`chat`           language models behind a chat endpoint: a text in, a text out
`endpoint`       address, client and requests; explains errors, without the key
===============  ==============================================================
"""
