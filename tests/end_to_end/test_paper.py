"""A paper of exported tables, figures and references, compiled where a TeX is installed.

Debian's texlive-latex-recommended is enough.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from score_records import record

from harness.commands.main import run
from harness.results.folder import ResultsFile

if not (shutil.which("pdflatex") and shutil.which("bibtex")):
    pytest.skip("no TeX is installed (pdflatex and bibtex)", allow_module_level=True)

PAPER = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{booktabs,graphicx}
\begin{document}
\input{scores}
\includegraphics[width=\textwidth]{items}
\includegraphics[width=\textwidth]{ratings}
\includegraphics[width=\textwidth]{both}
\nocite{*}
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""
NAMES = ("John", "Mary & Ann", "O_o", "50 %")


@pytest.fixture
def paper(tmp_path):
    """A folder with a results folder of two mitigators, and the source of a paper."""
    ratings = [{"text": name, "rating": float(i)} for i, name in enumerate(NAMES)]
    results = ResultsFile(tmp_path / "results", "m")
    for mitigator in ("none", "hard-debias"):
        samples = [
            {"input": f"targets_{1 + i % 2}", "text": name, "association": i / 10}
            for i, name in enumerate(NAMES)
        ]
        kept = record("weat-6", mitigator, metric="weat", concept="gender")
        results.add([kept.keeping({"ratings": ratings}, samples)])
    (tmp_path / "paper.tex").write_text(PAPER)
    return tmp_path


def compile_paper() -> None:
    """Compile `paper.tex` of the working directory, with its bibliography."""
    for program in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = [] if program == "bibtex" else ["-interaction=nonstopmode", "-halt-on-error"]
        done = subprocess.run(
            [program, *options, "paper"], capture_output=True, text=True, errors="replace"
        )
        assert done.returncode == 0, done.stdout[-2000:]
    assert Path("paper.pdf").read_bytes().startswith(b"%PDF-")
    log = Path("paper.log").read_text("utf-8", errors="replace")
    assert not re.search("undefined (citation|reference)|Missing character", log, re.IGNORECASE)


def test_tables_figures_and_references_compile(paper, monkeypatch):
    monkeypatch.chdir(paper)
    figures = ["results", "figures", "results", "--name"]
    for line in (
        ["results", "export", "--out", "scores.tex"],
        [*figures, "items", "--out", "items.pdf"],
        [*figures, "ratings", "--mitigator", "none", "--out", "ratings.pdf"],
        [*figures, "ratings", "--out", "both.pdf"],
        ["cite", "results", "--out", "references.bib"],
    ):
        assert run(line) == 0, line
    compile_paper()
    assert "bolukbasi2016" in (paper / "paper.bbl").read_text("utf-8")
