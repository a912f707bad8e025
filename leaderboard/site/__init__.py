"""The site: boards become static files that need no server and no network. Computes no number.

| module | what it does |
| --- | --- |
| `writing.py` | Writes all files of a site: downloads, tables of records, who submitted results. |
| `payload.py` | The content of its data files; for the scripts see `scripts/types.d.ts`. |
| `evidence.py` | The strongest items of cells, a data file for each task, within limits. |
| `registered.py` | Facts of registered models and tasks. |
| `history.py` | What changed from build to build: news, history, feed, what became of a model. |
| `about.py` | Who publishes a board (`board.yaml`): Submit, Data, Cite and About. |
| `badges.py` | Badges of models, and small pages for iframes. |
| `documents.py` | The JSON interface: a document for each model, task and so on. |
| `static_pages.py` | Their static pages, sitemap.xml and llms.txt. |
| `images.py` | Pictures for previews of links. |
| `studies.py` | Pages of studies with their violins, without a script. |
| `rendering.py` | Templates, names and safe writing of pages, records that were set aside. |
| `scripts/` | The modules of the page's script; `bundle.sh` writes them to `assets/`. |
| `assets/` | What a page loads: the script and the styles. |
"""
