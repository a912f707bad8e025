"""Figures and tables that metrics attach to their scores. They compute no score.

====================  =======================================================
`figures`             figures of concepts, directions, words and similarities
`ranking_views`       table and heatmap of the documents that queries retrieve
====================  =======================================================

A figure is a dictionary with Plotly's `data` and `layout`; nothing here imports Plotly.
"""
