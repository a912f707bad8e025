"""Recipes: several encoders, trained with several seeds, evaluated and compared.

================  =============================================================
`recipe`          a recipe: its file, the names in it, and its steps
`steps`           does the steps that are left
`results`         runs a recipe; its result, of finished steps and records
`recipe_tables`   the result as tables, sentences and a figure
================  =============================================================
"""
