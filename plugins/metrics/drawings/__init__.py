"""Figures and tables that metrics attach to their scores. They compute no score.

====================  =======================================================
`direction_figures`   a concept's direction: pairs, labels, random directions
`ranking_views`       table and heatmap of the documents that queries retrieve
`similarity_heatmap`  heatmap of cosines between texts
====================  =======================================================

A figure is a dictionary with Plotly's `data` and `layout`; nothing here imports Plotly.
"""
