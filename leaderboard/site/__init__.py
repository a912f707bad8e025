"""The site: boards become static files that need no server and no network. Computes no number."""
