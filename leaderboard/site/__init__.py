"""The site: boards become static files that need no server and no network. Computes no number.

| module | what it does |
| --- | --- |
| `writing.py` | Writes all files of a site: pages, data, downloads, who submitted results. |
| `payload.py` | The content of its data files; for the scripts see `scripts/types.d.ts`. |
| `evidence.py` | The strongest items of cells, a data file for each task, within limits. |
| `registered.py` | Facts of registered models and tasks. |
| `about.py` | Who publishes a board (`board.yaml`): Submit, Data, Cite and About. |
| `documents.py` | The content of the pages of models, tasks and so on. |
| `static_pages.py` | These pages, without a script; what became of models and tasks. |
| `badges.py` | Badges of models. |
| `rendering.py` | Templates, names and safe writing of pages, records that were set aside. |
| `scripts/` | The modules of the page's script; `bundle.sh` writes them to `assets/`. |
| `assets/` | What a page loads: the script and the styles. |
"""
