"""Figures and tables that metrics attach to their scores. They compute no score.

====================  =======================================================
`plotly_parts`        points and layouts that several figures share
`direction_figures`   a concept's direction: pairs, labels, random directions
`concept_figures`     a concept's pairs, components, list of words, and rated analogies
`word_projections`    words along a direction: the extreme ones, and all against ratings
`ranking_views`       table and heatmap of the documents that queries retrieve
`similarity_heatmap`  heatmap of cosines between texts
====================  =======================================================

A figure is a dictionary with Plotly's `data` and `layout`; nothing here imports Plotly.
"""
