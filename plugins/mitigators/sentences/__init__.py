"""Sentences on which mitigators of text encoders are fitted.

====================  ==============================================================
`templates`           a concept's words, alone and in twelve template sentences
`neutral_sentences`   640 plain sentences that mention no person
====================  ==============================================================
"""
