"""Models behind an OpenAI-compatible endpoint: embeddings and chat.

===============  ==============================================================
`openai`         `openai:MODEL`, text encoders behind an embeddings endpoint
`chat`           language models behind a chat endpoint: a text in, a text out
`request_texts`  the texts of a request, with their prompts or their role
`endpoint`       requests, keys, retries and errors of an endpoint
`answers`        reads and checks the vectors in an answer
`usage`          counts requests and tokens
`threads`        maps a function over items in threads, for concurrent requests
===============  ==============================================================
"""
