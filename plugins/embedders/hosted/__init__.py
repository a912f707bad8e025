"""Models behind an OpenAI-compatible endpoint: embeddings and chat.

===============  ==============================================================
`openai`         `openai:MODEL`, text encoders behind an embeddings endpoint
`chat`           language models behind a chat endpoint: a text in, a text out
`request_texts`  the texts of a request, with their prompts or their role
`asking`         requests of texts: split, watched and checked
`answers`        reads and checks the vectors in an answer
`endpoint`       sends requests, and explains the errors of an endpoint
`address`        the address of an endpoint, as it may be shown
`masking`        keeps keys out of every line
`client`         the client, with limits on the size and time of an answer
`retrying`       repeats requests, after the wait that an endpoint asks for
`limiter`        requests and tokens a minute
`usage`          counts requests and tokens
`threads`        maps a function over items in threads, for concurrent requests
===============  ==============================================================
"""
