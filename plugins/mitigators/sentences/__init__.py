"""Sentences that text mitigators are fitted on: words in contexts, neutral sentences."""
