"""Models behind an OpenAI-compatible endpoint: embeddings and chat."""
