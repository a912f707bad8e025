"""Finding names in texts, and rewriting texts.

==================  ================================================================
`mentions`          a mention of a name, and the other places of the same name
`spacy_mentions`    finds mentions with a spaCy pipeline
`language_model`    finds mentions with a language model
`prompted_edits`    removes or replaces names with a language model and the paper's prompts
`model_answers`     a language model's answers to one prompt, cached
`marks`             texts in which a person has marked the names
`agreement`         precision and recall of found mentions
`edits`             removes mentions, or replaces them by placeholders
`swapping`          swaps gendered words and names
`taggers`           tell possessives from objects, and people from places and words
==================  ================================================================

Mitigators, tables and the bias score use these modules; they know none of those.
"""
