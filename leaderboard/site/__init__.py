"""The site: boards become static files that need no server and no network. Computes no number.

| module | what it does |
| --- | --- |
| `writing.py` | Writes all files of a site into a folder. |
| `payload.py`, `details.py` | What its data files hold; for the scripts see `assets/types.d.ts`. |
| `layout.py`, `columns.py` | The order of rows and tasks in them, and numbers as bytes. |
| `registered.py`, `submitters.py` | Facts of registered models and tasks; who submitted results. |
| `downloads.py` | The CSV, the JSON and the Parquet file. |
| `changes.py` | What changed since an earlier build: the news. |
| `asides.py` | What was set aside, by reason. |
| `attachments.py` | Tables that belong to records. |
| `studies.py`, `study_page.py`, `violin_plot.py` | Pages of studies, without a script. |
| `rendering.py`, `files.py` | Templates, and pages that are ours. |
| `assets/` | The scripts and the style of the page. |
"""
