"""Recipes: several encoders, trained with several seeds, evaluated and compared.

=============  ================================================================
`command`      `harness train --recipe`
`recipe_file`  the schema of recipe files
`recipe`       finds a recipe, looks up the names in it, and applies options
`plan`         the steps in their order, with what each depends on
`run`          runs the steps that are left
`record`       the line of a finished step
`steps`        does a step
`corpora`      does the steps about corpora
`results`      the result, of finished steps and records
`summary`      the result as plain data
`cells`        its values and tests
`over_seeds`   the statistics: paired differences, and the noise of seeds
`tables`       its tables
`texts`        the cells of tables as texts
`statement`    how to read the tables, and what stands out
`figure`       the picture of the means
`report`       prints and writes all of that
=============  ================================================================
"""
