"""Names in texts: what a mention of one is, and what finds them. Not a plugin itself."""
